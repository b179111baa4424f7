import { createServer } from 'node:http';
import { createTerminus } from '@godaddy/terminus';
import { pool } from '../pool.mjs';

const server = createServer((request, response) => {
  if (request.url === '/') response.end('hello');
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
  else response.writeHead(404).end();
});

createTerminus(server, {
  signals: ['SIGTERM', 'SIGINT'],
  healthChecks: { '/healthz': async () => ({ by: 'terminus' }) },
  onSignal: () => pool.end(),
});

server.listen(process.env.PORT ?? 3000);
