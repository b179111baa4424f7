// A job that only one replica at a time runs. Each line that it writes has the time, the term and the pod.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Term } from 'lameduck/leader-election';

// The time between two lines, in milliseconds. The first line is written at once, because it shows when leadership has
// moved.
const period = 1_000;

export async function job({ signal, token, assertLeader }: Term): Promise<never> {
  for (;;) {
    assertLeader();
    console.log(JSON.stringify({ time: Date.now(), msg: 'job done', token, pod: hostname() }));
    await pause(period, undefined, { signal });
  }
}
