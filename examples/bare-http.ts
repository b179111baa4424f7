// The same idea on bare node:http: a server, and the line that gives it its lifecycle.
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const server = createServer((request, response) => {
  const answer = (): void => void response.end(`hello from ${request.url ?? ''}\n`);
  if (request.url === '/slow') setTimeout(answer, 1_000);
  else answer();
});

lameduck(server);
server.listen(Number(process.env['PORT'] ?? 8080), () => {
  console.log(`kill -TERM ${String(process.pid)}`);
});
