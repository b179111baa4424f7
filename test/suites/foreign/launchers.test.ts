// Tests PM2, throng, tsx, Bun and Deno: requests in flight finish, and no runtime throws. `.ci/launchers` runs this file.
// PROGRAMS is the folder in which the tools and the packed package are installed.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { get, newAccount, post, runClient } from '../../support/closed-loop-client.ts';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { disposed } from '../../support/disposed.ts';
import { HeldRequest } from '../../support/held-request.ts';
import { blocksIn, readPage } from '../../support/markdown.ts';
import { reservePort } from '../../support/reserved-port.ts';
import { until } from '../../support/until.ts';

const cwd = process.env['PROGRAMS'] ?? '';
const bin = (name: string): string => join(cwd, 'node_modules', '.bin', name);
const home = mkdtempSync(join(tmpdir(), 'lameduck-pm2-'));
after(() => {
  rmSync(home, { recursive: true, force: true });
});

const start = (t: TestContext, command: string, args: readonly string[], env = {}): CommandUnderTest =>
  disposed(t, new CommandUnderTest(command, args, { cwd, env }));

async function portOf(command: CommandUnderTest): Promise<number> {
  const [, port = ''] = await command.printed(/"msg":"listening","port":(\d+)/);
  await command.printed(/"name":"HasBeenReady"/);
  return Number(port);
}

// The PM2 configuration in docs/outside-kubernetes.md starts server.js. The test replaces its port by a free port.
const [, , , , { text: ecosystem = '' } = {}] = blocksIn(readPage('docs/outside-kubernetes.md'));
writeFileSync(join(cwd, 'ecosystem.config.cjs'), ecosystem.replace("'8080'", "'0'"));

for (const [how, options, reason, isWarned] of [
  ['SIGINT', ['server.js', '--name', 'shop'], 'SIGINT', true],
  [
    'its message shutdown',
    ['server.js', '--name', 'shop', '--shutdown-with-message', '--kill-timeout', '30000'],
    'shutdown message',
    false,
  ],
  ['SIGINT, with the configuration of docs/outside-kubernetes.md', ['ecosystem.config.cjs'], 'SIGINT', false],
] as const) {
  test(`P-068 PM2 stops a program by ${how}, and the request in flight gets its response`, async (t) => {
    const env = { PM2_HOME: mkdtempSync(join(home, 'pm2-')) };
    const pm2 = (...args: string[]): CommandUnderTest => start(t, bin('pm2'), args, env);
    t.after(() => pm2('kill').exit);
    await pm2('start', ...options).exit;
    // Read the file with the program's output, because `pm2 logs` loses lines that the program writes while `pm2 logs`
    // starts.
    const output = (): string => readFileSync(join(env.PM2_HOME, 'logs', 'shop-out.log'), 'utf8');
    await until(() => output().includes('"name":"HasBeenReady"'));
    const [, port] = /"msg":"listening","port":(\d+)/.exec(output()) ?? [];
    const request = await HeldRequest.open(t, Number(port));
    const stopped = pm2('stop', 'shop');
    await until(() => output().includes('"name":"HTTPServerStoppedListening"'));
    assert.equal(await request.release(), 'served');
    await stopped.exit;
    await until(() => output().includes(`"reason":"${reason}","exitCode":0`));
    assert.equal(output().includes('PM2 sends SIGKILL 1.6s after'), isWarned);
  });
}

test("P-068 in PM2's cluster mode, a reload loses and refuses no request, and the shutdown message stops every worker", async (t) => {
  const port = await reservePort();
  const env = { PM2_HOME: mkdtempSync(join(home, 'pm2-')), PORT: String(port) };
  const pm2 = (...args: string[]): CommandUnderTest => start(t, bin('pm2'), args, env);
  t.after(() => pm2('kill').exit);
  const options = ['--instances', '2', '--shutdown-with-message', '--kill-timeout', '30000'];
  await pm2('start', 'server.js', '--name', 'shop', ...options).exit;
  // Reads the log of PM2's daemon. The daemon writes the standard output of each worker to this log, with the lines of
  // lameduck.
  const count = (pattern: RegExp): number =>
    readFileSync(join(env.PM2_HOME, 'pm2.log'), 'utf8').match(pattern)?.length ?? 0;
  await until(() => count(/"name":"HasBeenReady"/g) === 2);

  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: 30 }, async (_, index) =>
    runClient({ port, request: index % 2 === 0 ? get : post, account, stop: stop.signal }),
  );
  await until(() => account.answered >= 300);
  // PM2 starts each new worker before it sends SIGINT to the old worker.
  await pm2('reload', 'shop').exit;
  await until(() => count(/"reason":"SIGINT","exitCode":0/g) === 2);
  const { answered } = account;
  await until(() => account.answered >= answered + 300);
  stop.abort();
  await Promise.all(clients);
  const { lost, refused, failed } = account;
  assert.deepEqual({ lost, refused, failed }, { lost: [], refused: [], failed: 0 });

  // In cluster mode, Node distributes the requests over the workers. During a reload, PM2 stops one worker after
  // another.
  const requests = [await HeldRequest.open(t, port), await HeldRequest.open(t, port)];
  const stopped = pm2('stop', 'shop');
  await until(() => count(/"name":"HTTPServerStoppedListening"/g) === 3);
  for (const request of requests) assert.equal(await request.release(), 'served');
  await stopped.exit;
  assert.equal(count(/"reason":"shutdown message","exitCode":0/g), 2);
});

test('P-071 a worker of the npm package throng disconnects from its cluster primary only after all its requests in flight have their responses', async (t) => {
  const throng = start(t, process.execPath, ['throng.js']);
  const request = await HeldRequest.open(t, await portOf(throng));
  throng.kill('SIGTERM');
  await throng.printed(/"name":"HTTPServerStoppedListening"/);
  assert.doesNotMatch(throng.output, /disconnecting/);
  assert.equal(await request.release(), 'served');
  assert.deepEqual(await throng.exit, { code: 0, signal: null });
  assert.match(throng.output, /"reason":"SIGTERM","exitCode":0[^]*"msg":"disconnecting"/);
});

const preloadFile = join(cwd, 'node_modules', 'lameduck', 'dist', 'register.cjs');

for (const [how, env] of [
  ['calls lameduck()', { LIFECYCLE: 'code' }],
  ['has lameduck/register', { NODE_OPTIONS: `--require=${preloadFile}`, LAMEDUCK_PROBE_PORT: 'off' }],
] as const) {
  test(`tsx forwards SIGTERM to a program that ${how}, and does not kill it during the drain`, async (t) => {
    const program = start(t, bin('tsx'), ['typed.ts'], { NODE_ENV: 'production', ...env });
    const request = await HeldRequest.open(t, await portOf(program));
    program.kill('SIGTERM');
    await program.printed(/"name":"HTTPServerStoppedListening"/);
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output);
    assert.match(program.output, /"reason":"SIGTERM","exitCode":0/);
  });
}

for (const [runtime, run, preload] of [
  ['Bun', [], ['--preload']],
  ['Deno', ['run', '--allow-all'], ['run', '--allow-all', '--preload']],
] as const) {
  const command = bin(runtime.toLowerCase());

  test(`on ${runtime}, lameduck() and a complete shutdown cause no exception, and lameduck logs a warning about ${runtime}`, async (t) => {
    const program = start(t, command, [...run, 'shuts-down.js']);
    assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output);
    assert.match(program.output, /^ended with 0$/m);
    assert.match(program.output, new RegExp(`"msg":"${runtime} .* runs this program: .* can lose requests"`));
  });

  test(`on ${runtime} lameduck/register prints one line and does nothing else`, async (t) => {
    const program = start(t, command, [...preload, preloadFile, 'prints.js']);
    assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output);
    const lines = program.output.trim().split('\n').toSorted();
    assert.deepEqual(lines, [
      `lameduck/register: disabled: ${runtime} runs this program, and only Node is supported`,
      'the program',
    ]);
  });
}
