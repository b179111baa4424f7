// A node:http server. Its argument selects what happens on SIGTERM: nothing, `server.close()`, or a shutdown by the
// named npm package. The code for each package is the first example in the README of that package:
//
//   server.js nothing|close|terminus|lightship|stoppable
import { createServer } from 'node:http';
import { hostname } from 'node:os';

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  response.setHeader('X-Served-By', hostname());
  setTimeout(() => response.end('done\n'), pathname === '/slow' ? Number(searchParams.get('ms')) : 5);
});

const ways = {
  nothing() {},
  close() {
    process.on('SIGTERM', () => server.close(() => process.exit(0)));
  },
  async terminus() {
    const { createTerminus } = (await import('@godaddy/terminus')).default;
    createTerminus(server, { signal: 'SIGTERM', healthChecks: { '/readyz': () => Promise.resolve() } });
  },
  async lightship() {
    // The field `exports` of this package points to a file that Node cannot load, so import another file of the
    // package.
    const { createLightship } = await import(new URL('node_modules/lightship/dist/esm/index.js', import.meta.url));
    const lightship = await createLightship();
    lightship.registerShutdownHandler(() => server.close());
    server.on('listening', () => lightship.signalReady());
  },
  async stoppable() {
    const { default: stoppable } = await import('stoppable');
    stoppable(server);
    process.on('SIGTERM', () => server.stop());
  },
};

await ways[process.argv[2]]();
server.listen(process.env.PORT);
