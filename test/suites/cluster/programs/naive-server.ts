// A server without graceful shutdown. It serves the same requests as the reference service and ends with `close()`, as
// most examples do. The rollout test must count lost requests for this server. If it counted none, its results for the
// other servers would prove nothing. A pod runs this program from a ConfigMap.
import { createServer } from 'node:http';
import { hostname } from 'node:os';

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    const order: unknown = request.method === 'POST' ? JSON.parse(body) : undefined;
    const answer = () => response.end(JSON.stringify({ accepted: order }));
    response.writeHead(order ? 201 : 200, { 'Content-Type': 'application/json', 'X-Served-By': hostname() });
    setTimeout(answer, pathname === '/slow' ? Number(searchParams.get('ms')) : 0);
  });
});
server.listen(8080);
process.on('SIGTERM', () => server.close(() => process.exit(0)));
