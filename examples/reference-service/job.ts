// A job that one replica at a time does. Each line that it writes says when, in which term and in which pod.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Term } from 'lameduck/leader-election';

// In milliseconds. The first line is written at once: it shows when leadership has moved.
const period = 1_000;

export async function job({ signal, token, assertLeader }: Term): Promise<never> {
  for (;;) {
    assertLeader();
    console.log(JSON.stringify({ time: Date.now(), msg: 'job done', token, pod: hostname() }));
    await pause(period, undefined, { signal });
  }
}
