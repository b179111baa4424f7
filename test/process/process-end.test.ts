// Tests the exit of a simulated process. The tests in scenarios/process-*.test.ts test the exit of real processes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmitOverride } from '../../src/process/emit-override.ts';
import { Exit } from '../../src/process/exit.ts';
import type { Ended, JoinedLifecycle } from '../../src/process/joined-lifecycles.ts';
import { ProcessEnd } from '../../src/process/process-end.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { FakeProcess } from '../support/fake-process.ts';

const clean: Ended = { exitCode: 0, durationMs: 1_000, budgetMs: 28_000 };

/** LifecycleUnderTest is a simulated lifecycle whose drain lasts until the test calls `end()`. */
class LifecycleUnderTest implements JoinedLifecycle {
  readonly shutdownSignals = ['SIGTERM', 'SIGINT'] as const;
  readonly takesShutdownMessage = false;
  readonly isDeveloped = false;
  readonly isUnderRegister: boolean = false;
  readonly runsOwnListeners: boolean = false;
  readonly log: string[];
  end!: (ended: Ended) => void;
  readonly #ended = new Promise<Ended>((resolve) => {
    this.end = resolve;
  });
  readonly #clock: FakeClock;
  #endsAt: number | undefined;
  #isReported = false;

  constructor(log: string[], clock: FakeClock) {
    this.log = log;
    this.#clock = clock;
  }

  begin: JoinedLifecycle['begin'] = (cause) => {
    this.log.push(`begin ${'reason' in cause ? cause.reason : cause.kind}`);
    this.#endsAt ??= this.#clock.now() + 28_000;
    return this.#ended;
  };

  report(heldBy: readonly string[], exitCode: number): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.log.push(['report', String(exitCode), ...heldBy].join(' '));
  }

  cutShort = (): number => 0;
  endsAt = (): number | undefined => this.#endsAt;

  warn(message: string): void {
    this.log.push(message);
  }

  onListenersHeld(signal: string, count: number): void {
    this.log.push(`${signal} held from ${String(count)}`);
  }

  onHeldOpen(heldBy: readonly string[]): void {
    this.log.push(`held open by ${heldBy.join()}`);
  }

  beforeListeners(): void {
    this.log.push('before listeners');
  }

  afterListeners(): void {
    this.log.push('after listeners');
  }
}

interface UnderTest {
  readonly target: FakeProcess;
  readonly clock: FakeClock;
  readonly log: string[];
  readonly end: ProcessEnd;
  readonly lifecycle: LifecycleUnderTest;
}

function create(options: Partial<Pick<JoinedLifecycle, 'isUnderRegister' | 'runsOwnListeners'>> = {}): UnderTest {
  const [target, clock, log]: [FakeProcess, FakeClock, string[]] = [new FakeProcess(), new FakeClock(), []];
  const injected = target as unknown as NodeJS.Process;
  const print = (error: unknown): void => {
    log.push(`print ${String(error)}`);
  };
  const reallyExit = (code: number): void => {
    log.push(`really exit ${String(code)}`);
  };
  const exit = new Exit(injected, reallyExit, print);
  const end = new ProcessEnd({ override: new EmitOverride(injected), clock, exit, print });
  const lifecycle = Object.assign(new LifecycleUnderTest(log, clock), options);
  end.join(lifecycle);
  return { target, clock, log, end, lifecycle };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await settled();
}

/** signalTwice sends SIGTERM, and `milliseconds` later a second SIGTERM, while the process drains. */
async function signalTwice({ target, clock }: UnderTest, milliseconds: number): Promise<void> {
  target.emit('SIGTERM', 'SIGTERM', 15);
  await turns();
  await clock.advance(milliseconds);
  target.emit('SIGTERM', 'SIGTERM', 15);
}

test("A-030, A-032 a process signal begins the shutdown of every lifecycle, and the program's own signal listeners are not called yet", () => {
  const { target, log, end, clock } = create();
  end.join(new LifecycleUnderTest(log, clock));
  target.on('SIGTERM', () => log.push('called'));
  assert.equal(end.isEnding, false);
  target.emit('SIGTERM', 'SIGTERM', 15);
  assert.equal(end.isEnding, true);
  assert.deepEqual(log, ['begin SIGTERM', 'begin SIGTERM', 'SIGTERM held from 1', 'SIGTERM held from 1']);
});

test('P-069 lameduck does not handle a process signal that is not in shutdownSignals', () => {
  const { target, log, end } = create();
  target.on('SIGHUP', () => log.push('called'));
  target.emit('SIGHUP', 'SIGHUP', 1);
  assert.deepEqual(log, ['called']);
  assert.equal(end.isEnding, false);
});

test('P-057 a second process signal within 100 ms does not count', async () => {
  const under = create();
  await signalTwice(under, 99);
  assert.deepEqual(under.log, ['begin SIGTERM']);
});

test('A-031, P-057 a second process signal after 100 ms ends the process with exit code 1', async () => {
  const under = create();
  await signalTwice(under, 100);
  const message = 'second process signal SIGTERM: exiting at once';
  assert.deepEqual(under.log.slice(0, 3), ['begin SIGTERM', message, 'report 1']);
  assert.deepEqual(under.target.exits, [1]);
});

test('P-111 after the drain, the signal listeners of the program are called with the name and the number of the signal', async () => {
  const { target, log, lifecycle, clock } = create();
  target.on('SIGTERM', (...args: unknown[]) => log.push(`called with ${args.join()}`));
  target.emit('SIGTERM', 'SIGTERM', 15);
  lifecycle.end(clean);
  await turns();
  const called = ['report 0', 'before listeners', 'called with SIGTERM,15', 'after listeners'];
  assert.deepEqual(log.splice(0), ['begin SIGTERM', 'SIGTERM held from 1', ...called]);
  await clock.advance(999);
  assert.deepEqual(target.exits, []);
  await clock.advance(1);
  assert.deepEqual(log, ['held open by Timeout']);
  assert.deepEqual(target.exits, [0]);
});

test('P-055 with ownSignalListeners=run the listeners of the program are called at once', () => {
  const { target, log } = create({ runsOwnListeners: true });
  target.on('SIGTERM', () => log.push('called'));
  target.emit('SIGTERM', 'SIGTERM', 15);
  assert.deepEqual(log, ['begin SIGTERM', 'called']);
});

test('P-063 with ownSignalListeners=run, the process exits one second after the drain even if a signal listener has thrown', async () => {
  const { target, lifecycle, clock } = create({ runsOwnListeners: true });
  target.on('SIGTERM', () => {
    throw new Error('listener');
  });
  assert.throws(() => target.emit('SIGTERM', 'SIGTERM', 15), /listener/);
  lifecycle.end(clean);
  await turns();
  await clock.advance(1_000);
  assert.deepEqual(target.exits, [0]);
});

test('P-058 a drained process that something keeps alive exits after one second, with the code of its shutdown', async () => {
  const { target, log, lifecycle, clock } = create();
  target.emit('SIGTERM', 'SIGTERM', 15);
  lifecycle.end({ ...clean, exitCode: 81 });
  await turns();
  await clock.advance(999);
  assert.deepEqual(target.exits, []);
  assert.equal(target.exitCode, 81);
  await clock.advance(1);
  assert.deepEqual(log, ['begin SIGTERM', 'after listeners', 'report 81 Timeout']);
  assert.deepEqual(target.exits, [81]);
});

test('P-058 if a lifecycle is created while the process is ending, the process exits only after the shutdown of this lifecycle', async () => {
  const { target, log, end, lifecycle, clock } = create();
  target.emit('SIGTERM', 'SIGTERM', 15);
  const late = new LifecycleUnderTest([], clock);
  end.join(late);
  await settled();
  assert.deepEqual(late.log, ['begin SIGTERM']);
  lifecycle.end(clean);
  await turns();
  assert.deepEqual(log, ['begin SIGTERM']);
  late.end({ ...clean, exitCode: 80 });
  await settled();
  assert.equal(target.exitCode, 80);
});

test('P-063 an uncaught error is printed and begins the shutdown, and a second uncaught error ends the process with exit code 82', () => {
  const { target, log } = create();
  assert.equal(target.emit('uncaughtException', new Error('one'), 'uncaughtException'), true);
  assert.deepEqual(log.splice(0), ['print Error: one', 'begin uncaught error']);
  target.emit('uncaughtException', new Error('two'), 'uncaughtException');
  const message = 'second uncaught error: exiting at once';
  assert.deepEqual(log.slice(0, 4), ['print Error: two', 'begin uncaught error', message, 'report 82']);
  assert.deepEqual(target.exits, [82]);
});

test('P-063 lameduck does not handle an uncaught error if the program itself listens for uncaught errors', () => {
  const { target, log, end } = create();
  target.on('uncaughtException', () => log.push('handled'));
  target.emit('uncaughtException', new Error('one'), 'uncaughtException');
  assert.deepEqual(log, ['handled']);
  assert.equal(end.isEnding, false);
});

test('P-063, P-075 after the drain under lameduck/register, Node handles an uncaught error as it does without lameduck', async () => {
  const { target, lifecycle, log } = create({ isUnderRegister: true });
  target.on('SIGTERM', () => undefined);
  target.emit('SIGTERM', 'SIGTERM', 15);
  lifecycle.end(clean);
  await settled();
  log.splice(0);
  assert.equal(target.emit('uncaughtException', new Error('one'), 'uncaughtException'), false);
  assert.deepEqual(log, []);
});

test('P-058 the backstop timer ends a process with exit code 80 if its shutdown has not ended 250 ms after the end of the shutdown budget', async () => {
  const { target, log, clock } = create();
  target.emit('SIGTERM', 'SIGTERM', 15);
  await clock.advance(28_249);
  assert.deepEqual(target.exits, []);
  await clock.advance(1);
  assert.equal(target.exits[0], 80);
  assert.deepEqual(log.slice(0, 2), ['begin SIGTERM', 'report 80']);
});

test('P-058 the backstop timer ends the process even if process.exit() returns or throws', async () => {
  for (const exit of [
    () => undefined,
    () => {
      throw new Error('exit');
    },
  ]) {
    const { target, log, clock } = create();
    target.exit = exit;
    target.emit('SIGTERM', 'SIGTERM', 15);
    await clock.advance(28_250);
    assert.deepEqual(log.slice(0, 3), ['begin SIGTERM', 'report 80', 'really exit 80']);
    assert.ok(target.isAborted, 'the process is aborted, because the fake reallyExit() has returned');
  }
});

test('P-075 if the promise of a signal listener of the program never settles, the process exits with 80 at the end of the shutdown budget', async () => {
  const { target, log, lifecycle, clock } = create();
  const never = new Promise<never>(() => undefined);
  target.on('SIGTERM', (): unknown => never);
  target.emit('SIGTERM', 'SIGTERM', 15);
  lifecycle.end(clean);
  await clock.advance(26_999);
  assert.deepEqual(target.exits, []);
  await clock.advance(1);
  assert.equal(target.exits[0], 80);
  assert.ok(log.includes("the program's own cleanup took longer than the shutdown budget: exiting"));
});

for (const [what, start] of [
  ['an async function without returning its promise', (work: Promise<unknown>) => void (async () => await work)()],
  ['a chain of promises without returning it', (work: Promise<unknown>) => void Promise.resolve().then(() => work)],
] as const) {
  test(`P-058 if a signal listener of the program starts ${what}, the process waits for this work, and then for at most one second`, async () => {
    const { target, lifecycle, clock } = create();
    const { promise: work, resolve: finish } = Promise.withResolvers<undefined>();
    target.on('SIGTERM', () => {
      start(work);
    });
    target.emit('SIGTERM', 'SIGTERM', 15);
    lifecycle.end(clean);
    await clock.advance(20_000);
    assert.deepEqual(target.exits, []);
    finish(undefined);
    await turns();
    await clock.advance(999);
    assert.deepEqual(target.exits, []);
    await clock.advance(1);
    assert.deepEqual(target.exits, [0]);
  });
}

test('P-058 process.exit(0) by the program during the drain exits with the code of the shutdown', () => {
  const { target, lifecycle, log } = create();
  lifecycle.cutShort = () => 80;
  target.emit('SIGTERM', 'SIGTERM', 15);
  target.exit(0);
  assert.deepEqual(target.exits, [80]);
  assert.ok(log.includes('report 80'));
});

test('if a former leader has lost the Lease and its work has not stopped, the process exits at once with exit code 83', () => {
  const { target, log, end } = create();
  end.endAfterLoss('leadership lost', true);
  assert.deepEqual(log.slice(0, 3), ['begin leadership lost', 'leadership lost: exiting at once', 'report 83']);
  assert.deepEqual(target.exits, [83]);
});
