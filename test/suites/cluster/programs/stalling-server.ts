// A server whose event loop a request can block or keep busy. A pod runs this program from a ConfigMap, with the
// package lameduck in its image.
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const nothing = new Int32Array(new SharedArrayBuffer(4));

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/busy') {
    const until = performance.now() + 2;
    while (performance.now() < until);
  }
  response.end('served\n');
  // The path /block blocks the event loop for `ms` milliseconds, or forever without `ms`. The blocked thread uses no
  // CPU, because another pod of the same test needs the CPU.
  if (pathname === '/block') {
    response.once('finish', () =>
      setImmediate(() => Atomics.wait(nothing, 0, 0, Number(searchParams.get('ms') ?? Infinity))),
    );
  }
});
lameduck(server);
server.listen({ port: Number(process.env['PORT']), backlog: 4096 });
