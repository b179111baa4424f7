// The server whose start and exit the benchmark measures. With BY=code, it calls lameduck(). It writes its port to
// standard output, and answers a request for /late after it has received SIGTERM. With TURNS=yes, it writes the
// durations of the longest turns of its event loop instead of its port. With PROFILE=INTERVAL, it also writes a CPU
// profile of the time until it has sent its first response.
const { createServer } = require('node:http');

const watched = 1_500;

const profiling = process.env.PROFILE === undefined ? undefined : startProfile(Number(process.env.PROFILE));

const server = createServer((request, response) => {
  if (profiling !== undefined) response.once('finish', sendProfile);
  if (request.url !== '/late') response.end('hello');
  else duck.signals.notAcceptingNewRequest.signaled.then(() => response.end('late'));
});
const duck = process.env.BY === 'code' ? require('../../dist/index.cjs').lameduck(server) : undefined;
server.listen(0, '127.0.0.1', () => {
  if (process.env.TURNS === 'yes') watchTurns();
  else process.stdout.write(`${JSON.stringify(server.address().port)}\n`);
});

function startProfile(interval) {
  // Load node:inspector only in a process that makes a CPU profile. In other processes, loading it would lengthen the
  // measured start.
  const { Session } = require('node:inspector');
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval });
  session.post('Profiler.start');
  return session;
}

function sendProfile() {
  profiling.post('Profiler.stop', (_error, { profile }) => process.stdout.write(`${JSON.stringify([profile])}\n`));
}

// Measures each turn of the event loop as the time between two callbacks of setImmediate(). A pending setImmediate()
// keeps the event loop from waiting for events, so waiting time is not measured.
function watchTurns() {
  const turns = [];
  const end = performance.now() + watched;
  let wall = performance.now();
  let cpu = process.threadCpuUsage();
  const look = () => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(cpu);
    turns.push({ at: watched - (end - now), wallMs: now - wall, cpuMs: (user + system) / 1_000 });
    if (now > end) {
      turns.sort((a, b) => b.wallMs - a.wallMs);
      process.stdout.write(`${JSON.stringify(turns.slice(0, 8))}\n`, () => process.exit());
      return;
    }
    cpu = process.threadCpuUsage();
    wall = performance.now();
    setImmediate(look);
  };
  setImmediate(look);
}
