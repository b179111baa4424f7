// Runs `lameduck stop` next to programs that a launcher has started.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { test, type TestContext } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { lameduck } from '../support/lameduck-command.ts';
import { reservePort } from '../support/reserved-port.ts';
import { registered } from '../support/under-register.ts';

const skip = process.platform === 'linux' ? false : 'there is no /proc here';
const fixture = fileURLToPath(new URL('../fixtures/knows-nothing.ts', import.meta.url));

/** Starts a program under a shell that does not forward SIGTERM. */
async function launched(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
): Promise<[CommandUnderTest, string]> {
  const port = String(await reservePort());
  const variables = { ...registered({ LAMEDUCK_PROBE_PORT: port, ...env }) };
  const script = `'${process.execPath}' '${fixture}'; echo "the program has ended with $?"`;
  const command = disposed(t, new CommandUnderTest('sh', ['-c', script], { env: variables }));
  await command.printed(/"msg":"probe port listens"/);
  await command.printed(/"HasBeenReady"/);
  return [command, port];
}

test(
  'P-065 `lameduck stop` signals a program under a shell, and returns when the program has drained and ended',
  { skip },
  async (t) => {
    const [program, port] = await launched(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '500ms' });
    const { code, output } = await lameduck(t, ['stop'], { LAMEDUCK_PROBE_PORT: port });
    assert.match(output, /^lameduck stop: process \d+ exited after SIGTERM\n$/);
    assert.equal(code, 0);
    // The program has written its final log line when `lameduck stop` returns.
    assert.match(program.output, /"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
    assert.equal((await program.exit).code, 0);
    assert.match(program.output, /the program has ended with 0/);
  },
);

test(
  "`lameduck stop` has an option for the port, and sends the first of the program's shutdownSignals",
  { skip },
  async (t) => {
    const [program, port] = await launched(t, { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGQUIT,SIGTERM' });
    const { code } = await lameduck(t, ['stop', '--port', port], { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGQUIT,SIGTERM' });
    assert.equal(code, 0);
    await program.printed(/"lameduck\/shutdown\/v1","reason":"SIGQUIT","exitCode":0/);
  },
);

test(
  '`lameduck stop` reports a program that does not end in time, with the signal, the time and the remedy',
  { skip },
  async (t) => {
    const [, port] = await launched(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' });
    const { code, output } = await lameduck(t, ['stop', '--timeout=300ms'], { LAMEDUCK_PROBE_PORT: port });
    assert.equal(code, 1);
    assert.match(
      output,
      /^lameduck stop: process \d+ has not exited within 300ms after SIGTERM: shorten the drain, or raise terminationGracePeriodSeconds of the pod/,
    );
  },
);

test('`lameduck stop` waits by default for the grace period that the environment states', { skip }, async (t) => {
  const [, port] = await launched(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' });
  const env = { LAMEDUCK_PROBE_PORT: port, LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '1' };
  assert.match((await lameduck(t, ['stop'], env)).output, /has not exited within 1s after SIGTERM/);
});

test('`lameduck stop` reports a port on which no process listens, and says what to check', { skip }, async (t) => {
  const port = String(await reservePort());
  assert.deepEqual(await lameduck(t, ['stop', '--port', port]), {
    code: 1,
    output: `lameduck stop: no visible process of this container listens on port ${port}: check LAMEDUCK_PROBE_PORT, that the program has started and uses lameduck, and that the hook runs as the user of the program\n`,
  });
});

test(
  'if a client is connected to the port of the server, `lameduck stop` signals the server and not the client',
  { skip },
  async (t) => {
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
    assert.match((await lameduck(t, ['stop', '--port', String(port)])).output, /no visible process of this container/);
    client.kill('SIGKILL');
    await client.exit;
  },
);

for (const [title, args, env, expected] of [
  [
    'a probe port that is off',
    [],
    { LAMEDUCK_PROBE_PORT: 'off' },
    /^lameduck stop: the probe port is off, .*: set LAMEDUCK_PROBE_PORT, or pass a port of the program with --port\n/,
  ],
  [
    'an invalid port',
    ['--port=http'],
    {},
    /^lameduck stop: --port must be a TCP port from 1 to 65535, or the word off, got "http"\n/,
  ],
  [
    'an invalid variable',
    [],
    { LAMEDUCK_PROBE_PORT: '99999' },
    /^lameduck stop: LAMEDUCK_PROBE_PORT must be a TCP port from 1 to 65535, or the word off, got "99999"\n/,
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
  test(`the command lameduck stop with an invalid argument or variable exits with 2 and prints the expected value: ${title}`, async (t) => {
    const { code, output } = await lameduck(t, ['stop', ...args], env);
    assert.equal(code, 2);
    assert.match(output, expected);
    assert.match(output, /lameduck stop --help shows examples\n$/);
  });
}

test('`lameduck stop --help` shows examples and every option', async (t) => {
  const { code, output } = await lameduck(t, ['stop', '--help']);
  assert.equal(code, 0);
  assert.match(output, /Examples:\n {2}lameduck stop\n[^]*--port PORT[^]*--timeout DURATION/);
});
