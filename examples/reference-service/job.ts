// A job that only one replica at a time runs. Each line that it writes has the time, the term and the pod.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Term } from 'lameduck/leader-election';

// Milliseconds between two lines of the job. A new leader writes its first line at once, which shows when leadership has
// moved.
const period = 1_000;

export async function job({ signal, token, assertLeader }: Term): Promise<never> {
  for (;;) {
    assertLeader();
    console.log(JSON.stringify({ time: Date.now(), msg: 'job done', token, pod: hostname() }));
    await pause(period, undefined, { signal });
  }
}
