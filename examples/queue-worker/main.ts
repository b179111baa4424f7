import { setTimeout as sleep } from 'node:timers/promises';
import { lameduck } from 'lameduck';

// The shutdown delay is 0: no client sends requests to a queue worker, so a delay would only make each rollout slower.
const duck = lameduck([], { shutdownDelayDuration: 0 });

const stopping = new AbortController();
const worker = work(stopping.signal);
// This pre-shutdown hook has a time limit of 20 s. The time limit must be longer than the longest job of the queue, and
// shorter than the pod's grace period.
duck.addPreShutdownHook('worker', () => (stopping.abort(), worker), { timeout: '20s' });
duck.addDestroyHook('queue', () => {
  console.log('pool closed'); // close the connection to the queue here: the last job is done
});

// When `signal` aborts, at the start of the shutdown, the worker finishes its current job and takes no new job.
async function work(signal: AbortSignal): Promise<void> {
  for (let job = 1; !signal.aborted; job++) {
    console.log(`job ${job} started`);
    await sleep(200);
    console.log(`job ${job} done`);
  }
}
