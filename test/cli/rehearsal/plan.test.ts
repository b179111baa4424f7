import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlan, type Plan } from '../../../src/cli/rehearsal/plan.ts';
import { scenarios } from '../../../src/cli/rehearsal/scenarios.ts';

function plan(...args: readonly string[]): Plan {
  const read = readPlan(args, 7);
  assert.ok('command' in read, JSON.stringify(read));
  return read;
}

test('by default `lameduck rehearse` runs the scenario rollout with 200 requests per second on 40 keep-alive connections', () => {
  const { command, scenarios: names, rate, connections, propagations, requests, seed } = plan('--', 'npm', 'start');
  assert.deepEqual(
    { command, names, rate, connections, propagations, requests, seed },
    {
      command: ['npm', 'start'],
      names: ['rollout'],
      rate: 200,
      connections: 40,
      propagations: [2_000],
      requests: [{ method: 'GET', path: '/' }],
      seed: 7,
    },
  );
});

test('options after the command of `lameduck rehearse` belong to the rehearsed command', () => {
  assert.deepEqual(plan('--rate', '10', '--', 'node', '--rate', '20').command, ['node', '--rate', '20']);
});

test('`lameduck rehearse --request` is a path, or a method and a path, and can be repeated', () => {
  const { requests } = plan('--request', '/a', '--request', 'POST /b?c=d', '--', 'x');
  assert.deepEqual(requests, [
    { method: 'GET', path: '/a' },
    { method: 'POST', path: '/b?c=d' },
  ]);
});

test('`lameduck rehearse --propagation` accepts a list of durations, and a number without a unit counts as seconds', () => {
  assert.deepEqual(plan('--propagation', '0,2,5s,250ms', '--', 'x').propagations, [0, 2_000, 5_000, 250]);
});

test('`lameduck rehearse --container NAME=COMMAND` runs the command as `sh -c "exec COMMAND"`, so that the command replaces the shell', () => {
  assert.deepEqual(
    plan('--manifest', 'pod.yaml', '--container', 'proxy=node proxy.js', '--', 'x').commands.get('proxy'),
    ['sh', '-c', 'exec node proxy.js'],
  );
});

test('K-221 `lameduck rehearse --all` runs every scenario', () => {
  assert.deepEqual(plan('--all', '--', 'x').scenarios, [
    'rollout',
    'scale-down',
    'eviction',
    'node-shutdown',
    'delete-starting',
    'overload',
    'second-signal',
    'blocked-loop',
    'failing-liveness',
    'crash-loop',
    'sidecars',
  ]);
});

for (const [args, problem] of [
  [['--rate', 'fast', '--', 'x'], '--rate must be an integer from 1 to 100000, got "fast"'],
  [['--port', '0', '--', 'x'], '--port must be an integer from 1 to 65535, got "0"'],
  [['--scenario', 'roll', '--', 'x'], `--scenario must be one of ${Object.keys(scenarios).join(', ')}, got "roll"`],
  [
    ['--propagation', '2,soon,x', '--', 'x'],
    '--propagation must be a list of durations up to 1h, such as 2s,5s, got "2,soon,x"',
  ],
  [['--propagation', '2h', '--', 'x'], '--propagation must be a list of durations up to 1h, such as 2s,5s, got "2h"'],
  [['--stream', 'events', '--', 'x'], '--stream must begin with "/", got "events"'],
  [['--request', 'GET', '--', 'x'], '--request must be a path or a method and a path, got "GET"'],
  [['--container', 'a=b', '--', 'x'], '--container needs --manifest, which describes the container'],
  [['--manifest', 'x', '--container', 'proxy', '--', 'x'], '--container must be NAME=COMMAND, got "proxy"'],
  [['npm', 'start'], 'expected a command after --, such as: -- npm start'],
  [['npm', '--', 'start'], '"npm" is not an option: write the command after --'],
  [[], 'expected a command after --, such as: -- npm start'],
] as const) {
  test(`the command lameduck rehearse rejects the arguments ${JSON.stringify(args)}`, () => {
    assert.deepEqual(readPlan(args, 7), { problem });
  });
}

test('`lameduck rehearse` names an unknown option', () => {
  const read = readPlan(['--scenaro', 'rollout', '--', 'x'], 7);
  assert.match('problem' in read ? read.problem : '', /--scenaro/);
});

test('`lameduck rehearse` reports all invalid arguments at once', () => {
  const read = readPlan(['--rate', 'y', '--port', 'x', '--', 'x'], 7);
  assert.match('problem' in read ? read.problem : '', /--rate.*; --port|--port.*; --rate/);
});
