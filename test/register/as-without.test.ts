// Tests programs that end in unusual ways. With `lameduck/register`, each program must print the same and end in the
// same way as without `lameduck/register`.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { CommandUnderTest, type Exit } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { registered } from '../support/under-register.ts';

const server = `
  const http = require('node:http'), { promisify } = require('node:util');
  const answer = (request, response) => response.end('ok');
  const up = () => console.log('up');
  let s = http.createServer(answer);
  const hold = () => setInterval(() => undefined, 1000);
`;

const stops: Readonly<Record<string, string>> = {
  'stores server.close before listen()': `
    const stop = promisify(s.close).bind(s);
    s.listen(0, up);
    process.on('SIGTERM', () => stop().then(() => { console.log('cleanup'); process.exit(4); }));`,
  'wraps server.close': `
    const own = s.close;
    s.close = function (callback) { console.log('pool ended'); return own.call(this, callback); };
    s.listen(0, up);
    process.on('SIGTERM', () => s.close((error) => process.exit(error ? 1 : 6)));`,
  'has a server class that overrides close()': `
    class Server extends http.Server { close(callback) { console.log('pool ended'); return super.close(callback); } }
    s = new Server(answer).listen(0, up);
    process.on('SIGTERM', () => s.close((error) => process.exit(error ? 1 : 6)));`,
  'has a server class that closes the server in a method other than close()': `
    class Server extends http.Server { stop() { return new Promise((yes, no) => super.close((e) => (e ? no(e) : yes()))); } }
    s = new Server(answer).listen(0, up);
    process.on('SIGTERM', () => s.stop().then(() => { console.log('cleanup'); process.exit(4); }));`,
  'disposes of an HTTP/2 server': `
    s = require('node:http2').createServer(answer).listen(0, up);
    hold();
    process.on('SIGTERM', async () => { await s[Symbol.asyncDispose](); console.log('cleanup'); process.exit(4); });`,
  'reads the server address before it closes the server': `
    s.listen(0, up);
    process.on('SIGTERM', () => { console.log('closing', s.address().port > 0, s.listening); s.close(() => process.exit(5)); });`,
  'closes twice': `
    s.listen(0, up);
    const say = (error) => console.log(error ? error.code : 'closed');
    process.on('SIGTERM', () => { s.close(say); s.close(say); });`,
  'listens again after a close': `
    s.listen(0, () => s.close(() => s.listen(0, up)));
    process.on('SIGTERM', () => s.close((error) => { console.log(error ? error.code : 'closed'); process.exit(5); }));`,
  'throws in its signal listener and catches the error': `
    s.listen(0, up);
    hold();
    process.on('unhandledRejection', () => console.log('unhandled'));
    process.on('uncaughtException', (error) => { console.log(error.message); process.exit(9); });
    process.on('SIGTERM', () => { throw new Error('on purpose'); });`,
  'throws when it has closed': `
    s.listen(0, up);
    hold();
    process.on('unhandledRejection', () => console.log('unhandled'));
    process.on('SIGTERM', () => s.close(() => { throw new Error('on purpose'); }));`,
  'listens for its signal with once() and with prependListener()': `
    s.listen(0, up);
    process.once('SIGTERM', (...args) => { console.log('first', ...args); process.exit(3); });
    process.prependListener('SIGTERM', () => console.log('ahead'));`,
};

// The programs in this list end without a process signal. Each entry is the code of one program.
const errors: Readonly<Record<string, string>> = {
  'reports an uncaught error and exits if it has the only listener': `
    s.listen(0, up);
    const mine = () => {
      console.log('reported');
      if (process.listeners('uncaughtException').filter((one) => one !== mine).length === 0) process.exit(7);
    };
    process.on('uncaughtException', mine);
    setTimeout(() => { throw new Error('on purpose'); }, 300);`,
  'handles one uncaught error and continues': `
    process.once('uncaughtException', () => { console.log('handled'); setTimeout(() => process.exit(8), 300); });
    s.listen(0, up);
    setTimeout(() => { throw new Error('on purpose'); }, 300);`,
};

function start(t: TestContext, code: string, env: Record<string, string>): CommandUnderTest {
  return disposed(t, new CommandUnderTest(process.execPath, ['--eval', server + code], { env }));
}

async function run(
  t: TestContext,
  code: string,
  env: Record<string, string>,
  isKilled: boolean,
): Promise<Exit & { own: string[] }> {
  const command = start(t, code, env);
  if (isKilled) {
    await command.printed(env['NODE_OPTIONS'] === undefined ? /^up$/m : /"name":"HasBeenReady"/);
    command.kill('SIGTERM');
  }
  const exit = await command.exit;
  // Ignore the stack frames in Node's report of an error: the frames of Node itself depend on the modules that were
  // loaded earlier.
  const own = command.output.split('\n').filter((line) => !line.startsWith('{') && !/^\s+at /.test(line));
  return { ...exit, own };
}

void describe('with and without lameduck/register, a program ends with the same exit code', { concurrency: 4 }, () => {
  for (const [programs, isKilled] of [
    [stops, true],
    [errors, false],
  ] as const) {
    for (const [name, code] of Object.entries(programs)) {
      test(`P-055, P-116 a program that ${name} has the same output and the same exit code or signal with lameduck/register as without lameduck/register`, async (t) => {
        const [without, withIt] = await Promise.all([run(t, code, {}, isKilled), run(t, code, registered(), isKilled)]);
        assert.deepEqual(withIt, without);
      });
    }
  }

  test('with lameduck/register, if the program calls lameduck() for a server after listen(), the server has only the lifecycle that this call creates', async (t) => {
    const index = new URL('../../src/index.ts', import.meta.url).href;
    const code = `
      import('${index}').then(async ({ lameduck }) => {
        await new Promise((resolve) => s.listen(0, resolve));
        const duck = lameduck(s);
        duck.addDestroyHook('own', () => console.log('own hook'));
      });`;
    const command = start(t, code, registered());
    await command.printed(/"name":"HasBeenReady"/);
    command.kill('SIGTERM');
    assert.deepEqual(await command.exit, { code: 0, signal: null }, command.output);
    assert.match(command.output, /^own hook$/m);
    assert.equal(command.output.match(/"msg":"shutdown ended"/g)?.length, 1);
  });

  test('with lameduck/register, an uncaught error during the drain is not hidden by cleanup code that exits with 0', async (t) => {
    const code = `
      s.listen(0, up);
      process.on('SIGTERM', () => s.close(() => process.exit(0)));
      process.on('SIGUSR2', () => { throw new Error('on purpose'); });
      process.on('exit', (code) => console.log('code', code));`;
    const env = registered({ LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s' });
    const command = start(t, code, env);
    await command.printed(/"name":"HasBeenReady"/);
    command.kill('SIGTERM');
    await command.printed(/"name":"ShutdownInitiated"/);
    command.kill('SIGUSR2');
    assert.deepEqual(await command.exit, { code: 82, signal: null });
  });

  test('two copies of lameduck/register add only one lifecycle to a program', async (t) => {
    const env = registered();
    const copy = `${env['NODE_OPTIONS'] ?? ''} --import=${new URL('../../dist/register.cjs', import.meta.url).href}`;
    const code = "s.listen(0, up); process.on('SIGTERM', () => s.close((error) => process.exit(error ? 1 : 7)));";
    const command = start(t, code, { ...env, NODE_OPTIONS: copy });
    await command.printed(/"name":"HasBeenReady"/);
    command.kill('SIGTERM');
    assert.deepEqual(await command.exit, { code: 7, signal: null }, command.output);
    assert.equal(command.output.match(/"msg":"shutdown ended"/g)?.length, 1);
  });
});
