// A server that sends its port to its parent. With the variable TURNS, it instead measures the duration of each turn of
// its event loop.
const { createServer } = require('node:http');

const watched = 1_500;

const server = createServer((request, response) => response.end('hello'));
server.listen(0, '127.0.0.1', () => {
  if (process.env.TURNS === 'yes') watchTurns();
  else process.stdout.write(`${JSON.stringify(server.address().port)}\n`);
});

// A turn lasts from one immediate to the next. The event loop never waits while there is an immediate.
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
      turns.sort((a, b) => b.cpuMs - a.cpuMs);
      process.stdout.write(`${JSON.stringify(turns.slice(0, 8))}\n`, () => process.exit());
      return;
    }
    cpu = process.threadCpuUsage();
    wall = performance.now();
    setImmediate(look);
  };
  setImmediate(look);
}
