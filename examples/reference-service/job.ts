// A job that only the leader runs. Each log line of the job has the time, the fencing token of the leader and the name
// of its pod.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Term } from 'lameduck/leader-election';

// The leader writes a log line every `period` milliseconds. A new leader writes its first line at once, so that the log
// shows when the leader has changed.
const period = 1_000;

export async function job({ signal, token, assertLeader }: Term): Promise<never> {
  for (;;) {
    assertLeader();
    console.log(JSON.stringify({ time: Date.now(), msg: 'job done', token, pod: hostname() }));
    await pause(period, undefined, { signal });
  }
}
