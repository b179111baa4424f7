// The worker thread that runs the clients of a rehearsal. The probes and the terminal output stay in the main thread,
// so that they do not delay requests.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../../clock.ts';
import type { Loss } from '../load.ts';
import { seededRandom } from '../random.ts';
import { Crowd } from './crowd.ts';
import type { FromThread, ToThread } from './messages.ts';

const reportPeriod = 100;

const port = parentPort;
if (port === null) throw new Error('thread.ts runs in a worker thread');

const say = (message: FromThread): void => {
  port.postMessage(message);
};
const delay = monitorEventLoopDelay({ resolution: 10 });
let losses: Loss[] = [];
let crowd: Crowd | undefined;

const report = (): void => {
  if (crowd === undefined) return;
  // Node's event loop delay histogram adds its sampling interval of 10 ms to each value. So subtract 10 ms from the
  // longest delay.
  const loopDelayMs = Math.max(0, delay.max / 1e6 - 10);
  delay.reset();
  say({ kind: 'report', tallies: crowd.tallies, losses, inFlight: crowd.inFlight, loopDelayMs });
  losses = [];
};

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'start': {
      crowd = new Crowd(message.plan, seededRandom(message.plan.seed), (loss) => losses.push(loss));
      delay.enable();
      schedule();
      void crowd.run().then(() => {
        report();
        say({ kind: 'stopped' });
        port.close();
      });
      break;
    }
    case 'routes':
      if (crowd !== undefined) crowd.routes = message.routes;
      break;
    case 'host':
      if (crowd !== undefined) crowd.host = message.host;
      break;
    case 'stop':
      crowd?.stop();
      break;
    default:
      message satisfies never;
  }
});

function schedule(): void {
  systemClock.afterUnref(reportPeriod, () => {
    report();
    schedule();
  });
}
