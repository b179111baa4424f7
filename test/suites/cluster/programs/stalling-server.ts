// A server whose event loop can be blocked, or kept busy, by a request. A pod runs it from a ConfigMap, with the
// package of the image.
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
  // Without `ms` the block lasts forever. The block uses no CPU, because the busy pod of the same test needs the CPU.
  if (pathname === '/block') {
    response.once('finish', () =>
      setImmediate(() => Atomics.wait(nothing, 0, 0, Number(searchParams.get('ms') ?? Infinity))),
    );
  }
});
lameduck(server);
server.listen({ port: Number(process.env['PORT']), backlog: 4096 });
