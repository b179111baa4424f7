import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlan, type Plan } from '../../../src/cli/rehearsal/plan.ts';
import { scenarios } from '../../../src/cli/rehearsal/scenarios.ts';

function plan(...args: readonly string[]): Plan {
  const read = readPlan(args, 7);
  assert.ok('command' in read, JSON.stringify(read));
  return read;
}

test('without options a rollout is rehearsed with 200 requests per second from 40 kept connections', () => {
  const { command, scenarios: names, rate, connections, propagations, requests, seed } = plan('--', 'npm', 'start');
  assert.deepEqual(
    { command, names, rate, connections, propagations, requests, seed },
    {
      ...{ command: ['npm', 'start'], names: ['rollout'], rate: 200, connections: 40, propagations: [2_000] },
      ...{ requests: [{ method: 'GET', path: '/' }], seed: 7 },
    },
  );
});

test('options of the command are its own', () => {
  assert.deepEqual(plan('--rate', '10', '--', 'node', '--rate', '20').command, ['node', '--rate', '20']);
});

test('--request is a path, or a method and a path, and can be given again', () => {
  const { requests } = plan('--request', '/a', '--request', 'POST /b?c=d', '--', 'x');
  assert.deepEqual(requests, [
    { method: 'GET', path: '/a' },
    { method: 'POST', path: '/b?c=d' },
  ]);
});

test('--propagation is a list of durations; numbers are seconds', () => {
  assert.deepEqual(plan('--propagation', '0,2,5s,250ms', '--', 'x').propagations, [0, 2_000, 5_000, 250]);
});

test('--container gives a command to a shell that becomes it', () => {
  assert.deepEqual(plan('--container', 'proxy=node proxy.js', '--', 'x').commands.get('proxy'), [
    'sh',
    '-c',
    'exec node proxy.js',
  ]);
});

test('--all takes every scenario', () => {
  assert.deepEqual(plan('--all', '--', 'x').scenarios, Object.keys(scenarios));
});

for (const [args, problem] of [
  [['--rate', 'fast', '--', 'x'], '--rate must be an integer from 1 to 100000, got "fast"'],
  [['--port', '0', '--', 'x'], '--port must be an integer from 1 to 65535, got "0"'],
  [['--scenario', 'roll', '--', 'x'], `--scenario must be one of ${Object.keys(scenarios).join(', ')}, got "roll"`],
  [['--propagation', 'soon', '--', 'x'], '--propagation must be a list of durations such as 2s,5s, got "soon"'],
  [['--stream', 'events', '--', 'x'], '--stream must begin with "/", got "events"'],
  [['--request', 'GET', '--', 'x'], '--request must be a path or a method and a path, got "GET"'],
  [['--container', 'proxy', '--', 'x'], '--container must be NAME=COMMAND, got "proxy"'],
  [['npm', 'start'], 'give the command after --, such as: -- npm start'],
  [['npm', '--', 'start'], '"npm" is no option: the command comes after --'],
  [[], 'give the command after --, such as: -- npm start'],
] as const) {
  test(`arguments ${JSON.stringify(args)} are invalid`, () => {
    assert.deepEqual(readPlan(args, 7), { problem });
  });
}

test('an unknown option is named', () => {
  const read = readPlan(['--scenaro', 'rollout', '--', 'x'], 7);
  assert.match('problem' in read ? read.problem : '', /--scenaro/);
});

test('all problems are reported at once', () => {
  const read = readPlan(['--rate', 'y', '--port', 'x', '--', 'x'], 7);
  assert.match('problem' in read ? read.problem : '', /--rate.*; --port|--port.*; --rate/);
});
