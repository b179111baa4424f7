import assert from 'node:assert/strict';
import { test } from 'node:test';
import { graphOf, signalNames, type SignalName } from '../../src/lifecycle/graph.ts';
import { createLifecycle, type Lifecycle } from '../../src/lifecycle/signals.ts';
import { seededRandom } from '../../src/cli/rehearsal/random.ts';

const modes = [false, true];

// The lifecycle signals whose events the code of lameduck reports. NotAcceptingNewRequest is missing, because the
// lifecycle itself fires this signal after AfterShutdownDelayDuration and PreShutdownHooksStopped.
const reportable = signalNames.filter((name) => name !== 'NotAcceptingNewRequest');

/**
 * `recorded()` records each lifecycle signal when the signal fires, and checks that `hasSignaled` of the signal is
 * still false at that time.
 */
function recorded(retryAfter: boolean): { lifecycle: Lifecycle; order: SignalName[] } {
  const order: SignalName[] = [];
  const lifecycle = createLifecycle(retryAfter, (name) => {
    assert.equal(
      signalNamed(lifecycle, name).hasSignaled,
      false,
      `the lifecycle signal ${name} must not be visible before it is recorded`,
    );
    order.push(name);
  });
  return { lifecycle, order };
}

function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map((value) => ({ value, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ value }) => value);
}

function signalNamed({ signals }: Lifecycle, name: SignalName): { readonly hasSignaled: boolean } {
  const found = Object.values(signals).find((signal) => signal.name === name);
  assert.ok(found, `no lifecycle signal is named ${name}`);
  return found;
}

function assertSatisfiesGraph(order: readonly SignalName[], retryAfter: boolean, reports: readonly string[]): void {
  const graph = graphOf(retryAfter);
  assert.equal(new Set(order).size, order.length, `a lifecycle signal fired twice: ${order.join()}`);
  order.forEach((name, index) => {
    const before = order.slice(0, index);
    const { after, unless } = graph[name];
    const story = `${name} in ${order.join()} for reports ${reports.join()}`;
    assert.ok(
      after.every((other) => before.includes(other)),
      `a lifecycle signal fired too early: ${story}`,
    );
    assert.ok(unless === undefined || !before.includes(unless), `impossible: ${story}`);
  });
}

test('A-002 the object `signals` of a lifecycle has one property for each of the eight lifecycle signals, with the name of the signal in camelCase', () => {
  const { signals } = createLifecycle(false);
  const properties = Object.entries(signals).map(([property, { name }]) => ({ property, name }));
  assert.deepEqual(properties.map(({ name }) => name).sort(), [...signalNames].sort());
  for (const { property, name } of properties) assert.equal(property.toLowerCase(), name.toLowerCase());
  assert.equal(signals.httpServerStoppedListening.name, 'HTTPServerStoppedListening');
});

const first = ['MuxAndDiscoveryComplete', 'HasBeenReady', 'ShutdownInitiated'] as const;

test('A-010 by default, InFlightRequestsDrained fires only after HTTPServerStoppedListening', () => {
  const { lifecycle, order } = recorded(false);
  for (const name of [...first, 'AfterShutdownDelayDuration', 'PreShutdownHooksStopped'] as const)
    lifecycle.report(name);
  lifecycle.report('InFlightRequestsDrained');
  assert.equal(order.at(-1), 'NotAcceptingNewRequest');
  lifecycle.report('HTTPServerStoppedListening');
  assert.deepEqual(order, [
    ...first,
    'AfterShutdownDelayDuration',
    'PreShutdownHooksStopped',
    'NotAcceptingNewRequest',
    'HTTPServerStoppedListening',
    'InFlightRequestsDrained',
  ]);
});

test('A-011 with shutdownSendRetryAfter, InFlightRequestsDrained fires before HTTPServerStoppedListening, even if the server stops listening before the last request ends', () => {
  const { lifecycle, order } = recorded(true);
  for (const name of [...first, 'AfterShutdownDelayDuration', 'PreShutdownHooksStopped'] as const)
    lifecycle.report(name);
  lifecycle.report('HTTPServerStoppedListening');
  assert.equal(order.at(-1), 'NotAcceptingNewRequest');
  lifecycle.report('InFlightRequestsDrained');
  assert.deepEqual(order.slice(-3), [
    'NotAcceptingNewRequest',
    'InFlightRequestsDrained',
    'HTTPServerStoppedListening',
  ]);
});

for (const second of ['AfterShutdownDelayDuration', 'PreShutdownHooksStopped'] as const) {
  test(`A-006 NotAcceptingNewRequest fires only when the shutdown delay and the pre-shutdown hooks have both ended; here, ${second} is reported last`, () => {
    const { lifecycle, order } = recorded(false);
    const before = second === 'PreShutdownHooksStopped' ? 'AfterShutdownDelayDuration' : 'PreShutdownHooksStopped';
    lifecycle.report('ShutdownInitiated');
    lifecycle.report(before);
    lifecycle.report('NotAcceptingNewRequest');
    assert.deepEqual(order, ['ShutdownInitiated', before]);
    lifecycle.report(second);
    assert.deepEqual(order, ['ShutdownInitiated', before, second, 'NotAcceptingNewRequest']);
  });
}

test('A-014 neither MuxAndDiscoveryComplete nor HasBeenReady can fire after ShutdownInitiated has fired', () => {
  const { lifecycle, order } = recorded(false);
  lifecycle.report('HasBeenReady');
  lifecycle.report('ShutdownInitiated');
  lifecycle.report('MuxAndDiscoveryComplete');
  lifecycle.report('HasBeenReady');
  assert.deepEqual(order, ['ShutdownInitiated']);
  assert.equal(lifecycle.signals.muxAndDiscoveryComplete.hasSignaled, false);
  assert.equal(lifecycle.signals.hasBeenReady.hasSignaled, false);
});

test('if the events of two lifecycle signals are reported in the wrong order, the signals still fire in the right order', () => {
  const { lifecycle, order } = recorded(false);
  lifecycle.report('HasBeenReady');
  assert.deepEqual(order, []);
  lifecycle.report('MuxAndDiscoveryComplete');
  assert.deepEqual(order, ['MuxAndDiscoveryComplete', 'HasBeenReady']);
});

test('if the callback of one lifecycle signal reports the event of a second signal, the second signal fires only after this callback has returned', () => {
  const order: string[] = [];
  const lifecycle: Lifecycle = createLifecycle(false, (name) => {
    order.push(`${name} begins`);
    if (name === 'MuxAndDiscoveryComplete') {
      lifecycle.report('HasBeenReady');
      lifecycle.report('ShutdownInitiated');
    }
    order.push(`${name} ends`);
  });
  lifecycle.report('MuxAndDiscoveryComplete');
  assert.deepEqual(
    order,
    first.flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});

for (const retryAfter of modes) {
  const mode = retryAfter ? 'with retry-after' : 'by default';
  const last: SignalName[] = retryAfter
    ? ['NotAcceptingNewRequest', 'InFlightRequestsDrained', 'HTTPServerStoppedListening']
    : ['NotAcceptingNewRequest', 'HTTPServerStoppedListening', 'InFlightRequestsDrained'];

  test(`A-001…A-006, A-010, A-011, A-014 lifecycle signals fire in the fixed order, in whatever order their events are reported, ${mode}`, () => {
    for (const reports of permutations(reportable)) {
      const { lifecycle, order } = recorded(retryAfter);
      for (const name of reports) lifecycle.report(name);
      assertSatisfiesGraph(order, retryAfter, reports);
      assert.deepEqual(order.slice(-3), last, `reports ${reports.join()}`);
    }
  });

  test(`A-001 in 500 random sequences of reports, in which events are repeated or missing, the lifecycle signals fire in the fixed order, ${mode}`, () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = seededRandom(seed);
      const all: SignalName[] = [...signalNames, ...signalNames, ...signalNames];
      const reports = shuffled(all, random).slice(0, Math.floor(random() * all.length));
      const { lifecycle, order } = recorded(retryAfter);
      for (const name of reports) lifecycle.report(name);
      assertSatisfiesGraph(order, retryAfter, [`seed ${String(seed)}`, ...reports]);
      for (const name of signalNames) {
        const { after, unless, automatic } = graphOf(retryAfter)[name];
        const isDue = (automatic === true || reports.includes(name)) && after.every((other) => order.includes(other));
        const isImpossible = unless !== undefined && order.includes(unless);
        assert.equal(signalNamed(lifecycle, name).hasSignaled, order.includes(name), `seed ${String(seed)}: ${name}`);
        assert.ok(order.includes(name) || !isDue || isImpossible, `seed ${String(seed)}: ${name} is due`);
      }
    }
  });
}

function permutations<Value>(values: readonly Value[]): Value[][] {
  if (values.length <= 1) return [[...values]];
  return values.flatMap((value, index) => permutations(values.toSpliced(index, 1)).map((rest) => [value, ...rest]));
}
