// A user's program with a probe port. Its main thread is blocked until a child process, which probes this port, has
// exited. The probe port must respond in the meantime.
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

// The process ID gives each process that runs this program a probe port of its own. The port is below 32768, because
// the kernel itself assigns only ports from 32768 on.
const probePort = 20_000 + (process.pid % 10_000);

// The code is in an async function, because a CommonJS bundle does not permit top-level await.
async function main() {
  const server = createServer((_request, response) => response.end('hello'));
  const { promise: listening, resolve } = Promise.withResolvers();
  const ignore = () => undefined;
  const logger = {
    info: (_details, message) => message === 'probe port listens' && resolve(),
    warn: ignore,
    error: ignore,
  };
  const duck = lameduck(server, { probePort, logger });
  server.listen(0);
  await Promise.all([listening, duck.signals.hasBeenReady.signaled]);

  for (const path of ['/readyz', '/livez', '/metrics']) {
    const { status } = await fetch(`http://127.0.0.1:${probePort}${path}`);
    if (status !== 200) throw new Error(`${path} answers ${status}`);
  }

  const script = `fetch('http://127.0.0.1:${probePort}/livez').then((answer) => answer.text()).then(console.log)`;
  const { COMMAND: command } = process.env;
  // On a busy machine, the prober takes seconds to start. The probe port then reports that the event loop is blocked.
  const [file, args, expected] =
    command === undefined
      ? [process.execPath, ['--eval', script], /^ok\n$/]
      : [
          command,
          ['probe', 'livez', '--port', String(probePort), '--timeout', '20s'],
          /^livez: ok( \(the state of \d+ s ago, because the event loop is blocked\))?\n$/,
        ];
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
  if (status !== 0 || !expected.test(stdout)) throw new Error(`the prober ended with ${status}: ${stdout}${stderr}`);

  await duck.shutdown('the package works');
}

void main();
