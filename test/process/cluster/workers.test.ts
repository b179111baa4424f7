// Tests how a node:cluster primary with lameduck treats workers without lameduck, and workers that create their
// lameduck lifecycle only after they have begun to listen.
import assert from 'node:assert/strict';
import type { Cluster } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { Workers } from '../../../src/process/cluster/workers.ts';
import type { SharedListeners } from '../../../src/process/cluster/shared-listeners.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** FakeWorker records the process signals and the messages that the primary sends to it. */
class FakeWorker extends EventEmitter {
  readonly signals: string[] = [];
  readonly kinds: string[] = [];
  readonly process: EventEmitter;

  constructor(pid: number) {
    super();
    this.process = Object.assign(new EventEmitter(), {
      pid,
      connected: true,
      send: ({ kind }: { readonly kind: string }) => this.kinds.push(kind),
      kill: (signal: string) => this.signals.push(signal),
    });
  }

  /** Simulates the message with which a worker tells its primary that the worker has a lifecycle. */
  sayHello(): void {
    this.process.emit('internalMessage', { cmd: 'NODE_LAMEDUCK', kind: 'hello' });
  }
}

/**
 * Creates a simulated group of node:cluster workers that listen, one for each process ID in `pids`. `warned` has the
 * process IDs of the workers about which lameduck has warned, because they have no lifecycle.
 */
function listeningGroup(...pids: number[]) {
  const clock = new FakeClock();
  const cluster = Object.assign(new EventEmitter(), { Worker: FakeWorker }) as unknown as Cluster;
  const warned: unknown[] = [];
  const closes: string[] = [];
  const listeners = {
    watch: () => undefined,
    close: () => Promise.resolve(void closes.push('closed')),
  } as unknown as SharedListeners;
  const group = new Workers({
    cluster,
    clock,
    probePort: 0,
    listeners,
    stallLimit: 0,
    onExitCode: () => undefined,
    onBareWorker: (pid) => warned.push(pid),
  });
  const workers = pids.map((pid) => {
    const worker = new FakeWorker(pid);
    (cluster as unknown as EventEmitter).emit('fork', worker);
    worker.emit('listening');
    return worker;
  });
  return { clock, group, workers: workers as [FakeWorker, FakeWorker], warned, closes };
}

describe('a node:cluster primary with lameduck warns about workers without lameduck, and shuts down workers with and without lameduck', () => {
  it('P-071 a primary of node:cluster warns once if workers still listen without a lifecycle ten seconds after they began to listen', async () => {
    const { clock, warned } = listeningGroup(11, 12);
    await clock.advance(9_999);
    assert.deepEqual(warned, []);
    await clock.advance(60_000);
    assert.deepEqual(warned, [11]);
  });

  it('P-071 the cluster primary warns neither about a worker that has exited nor about a worker that creates its lifecycle after it has begun to listen', async () => {
    const { clock, workers, warned } = listeningGroup(11, 12);
    await clock.advance(9_000);
    workers[0].sayHello();
    workers[1].process.emit('exit', 1, null);
    await clock.advance(60_000);
    assert.deepEqual(warned, []);
  });

  it('P-071 if no worker has a lifecycle, the cluster primary sends the process signal to the workers only after the primary has closed the shared listening sockets', async () => {
    const { clock, group, workers, closes } = listeningGroup(11, 12);
    group.shutDown('SIGTERM', clock.now() + 20_000);
    assert.deepEqual(workers[0].signals, []);
    const stopped = group.stopAccepting();
    assert.deepEqual([closes, workers[0].signals], [['closed'], []]);
    await stopped;
    assert.deepEqual([workers[0].signals, workers[1].signals], [['SIGTERM'], ['SIGTERM']]);
  });

  it('P-071 if one of its workers has a lifecycle, a cluster primary does not close the shared listening sockets at the start of the shutdown', async () => {
    const { clock, group, workers, closes } = listeningGroup(11, 12);
    workers[0].sayHello();
    group.shutDown('SIGTERM', clock.now() + 20_000);
    await group.stopAccepting();
    assert.deepEqual([workers[0].signals, workers[1].signals, closes], [[], ['SIGTERM'], []]);
  });

  it('P-071 the cluster primary shuts down a worker that gets its lifecycle during the shutdown delay', async () => {
    const { clock, group, workers } = listeningGroup(11, 12);
    group.shutDown('SIGTERM', clock.now() + 20_000);
    workers[0].sayHello();
    await group.stopAccepting();
    assert.ok(workers[0].kinds.includes('shutdown'));
    assert.deepEqual([workers[0].signals, workers[1].signals], [[], ['SIGTERM']]);
  });
});
