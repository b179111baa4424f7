import { setTimeout as sleep } from 'node:timers/promises';
import { lameduck } from 'lameduck';

// No client sends requests, so a delay would only make each rollout slower.
const duck = lameduck([], { shutdownDelayDuration: 0 });

const stopping = new AbortController();
const worker = work(stopping.signal);
// The timeout of 20 s is longer than the longest job, and shorter than the grace period of the pod.
duck.addPreShutdownHook('worker', () => (stopping.abort(), worker), { timeout: '20s' });
duck.addDestroyHook('queue', () => {
  console.log('pool closed'); // close the connection to the queue here: the last job is done
});

// After the shutdown signal, the worker finishes its current job and takes no new one.
async function work(signal: AbortSignal): Promise<void> {
  for (let job = 1; !signal.aborted; job++) {
    console.log(`job ${job} started`);
    await sleep(200);
    console.log(`job ${job} done`);
  }
}
