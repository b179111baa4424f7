// `lameduck stop`, beside programs that a launcher has started.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { test, type TestContext } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { lameduck } from '../support/lameduck-command.ts';
import { freePort } from '../support/probe-client.ts';
import { registered } from '../support/guest.ts';

const skip = process.platform === 'linux' ? false : 'there is no /proc here';
const fixture = fileURLToPath(new URL('../fixtures/knows-nothing.ts', import.meta.url));

/** A program under a shell that does not pass SIGTERM on. */
async function launched(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
): Promise<[CommandUnderTest, string]> {
  const port = String(await freePort());
  const variables = { ...registered({ LAMEDUCK_PROBE_PORT: port, ...env }) };
  const script = `'${process.execPath}' '${fixture}'; echo "the program has ended with $?"`;
  const command = disposed(t, new CommandUnderTest('sh', ['-c', script], { env: variables }));
  await command.printed(/"msg":"probe port listens"/);
  await command.printed(/"HasBeenReady"/);
  return [command, port];
}

test(
  'P-065 a program under a shell drains at the signal of lameduck stop, which returns when it has ended',
  { skip },
  async (t) => {
    const [program, port] = await launched(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '500ms' });
    const { code, output } = await lameduck(t, ['stop'], { LAMEDUCK_PROBE_PORT: port });
    assert.match(output, /^lameduck stop: process \d+ has ended after SIGTERM\n$/);
    assert.equal(code, 0);
    // The final line is in the log by now.
    assert.match(program.output, /"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
    assert.equal((await program.exit).code, 0);
    assert.match(program.output, /the program has ended with 0/);
  },
);

test('the port is an option too, and the signal is the first of shutdownSignals', { skip }, async (t) => {
  const [program, port] = await launched(t, { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGQUIT,SIGTERM' });
  const { code } = await lameduck(t, ['stop', '--port', port], { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGQUIT,SIGTERM' });
  assert.equal(code, 0);
  await program.printed(/"lameduck\/shutdown\/v1","reason":"SIGQUIT","exitCode":0/);
});

test('a program that does not end in time is named with the signal, the time and the remedy', { skip }, async (t) => {
  const [, port] = await launched(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' });
  const { code, output } = await lameduck(t, ['stop', '--timeout=300ms'], { LAMEDUCK_PROBE_PORT: port });
  assert.equal(code, 1);
  assert.match(
    output,
    /^lameduck stop: process \d+ has not ended within 300ms of SIGTERM: shorten the drain, or raise terminationGracePeriodSeconds of the pod/,
  );
});

test('the time is the grace period of the environment if none is given', { skip }, async (t) => {
  const [, port] = await launched(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' });
  const env = { LAMEDUCK_PROBE_PORT: port, LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '1' };
  assert.match((await lameduck(t, ['stop'], env)).output, /has not ended within 1s of SIGTERM/);
});

test('a port on which no process listens is named with what to check', { skip }, async (t) => {
  const port = String(await freePort());
  assert.deepEqual(await lameduck(t, ['stop', '--port', port]), {
    code: 1,
    output: `lameduck stop: no process of this container that can be seen listens on port ${port}: check LAMEDUCK_PROBE_PORT, that the program has started and has lameduck, and that the hook runs as the user of the program\n`,
  });
});

test('a connection to the port does not make a process one that listens on it', { skip }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  const client = disposed(
    t,
    new CommandUnderTest(process.execPath, [
      '--eval',
      `require('node:net').connect(${String(port)}, '127.0.0.1', () => console.log('connected'))`,
    ]),
  );
  await Promise.all([client.printed(/connected/), accepted]);
  server.close();
  assert.match((await lameduck(t, ['stop', '--port', String(port)])).output, /no process of this container/);
  client.kill('SIGKILL');
  await client.exit;
});

for (const [title, args, env, expected] of [
  [
    'a probe port that is off',
    [],
    { LAMEDUCK_PROBE_PORT: 'off' },
    /^lameduck stop: the probe port is off, .*: set LAMEDUCK_PROBE_PORT, or give --port a port of the program\n/,
  ],
  [
    'a port that is none',
    ['--port=http'],
    {},
    /^lameduck stop: --port must be a TCP port from 1 to 65535, or off, got "http"\n/,
  ],
  [
    'a variable that is none',
    [],
    { LAMEDUCK_PROBE_PORT: '99999' },
    /^lameduck stop: LAMEDUCK_PROBE_PORT must be a TCP port from 1 to 65535, or off, got "99999"\n/,
  ],
  [
    'a time without a unit',
    ['--timeout=30'],
    {},
    /--timeout must be a duration with its unit; did you mean 30s\?, got "30"\n/,
  ],
  [
    'a grace period with a unit',
    [],
    { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '30s' },
    /LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS must be a whole number of seconds, without a unit; did you mean 30\?, got "30s"\n/,
  ],
  [
    'a signal that cannot be caught',
    [],
    { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGKILL' },
    /LAMEDUCK_SHUTDOWN_SIGNALS must be one or more of the process signals that a program can catch.*, got "SIGKILL"\n/,
  ],
  ['an argument', ['8081'], {}, /^lameduck stop: expected no argument, got "8081"\n/],
  ['an option that does not exist', ['--wait'], {}, /^lameduck stop: Unknown option '--wait'/],
] as const) {
  test(`${title} is exit code 2 with what was expected`, async (t) => {
    const { code, output } = await lameduck(t, ['stop', ...args], env);
    assert.equal(code, 2);
    assert.match(output, expected);
    assert.match(output, /lameduck stop --help shows examples\n$/);
  });
}

test('--help shows examples and every option', async (t) => {
  const { code, output } = await lameduck(t, ['stop', '--help']);
  assert.equal(code, 0);
  assert.match(output, /Examples:\n {2}lameduck stop\n[^]*--port PORT[^]*--timeout DURATION/);
});
