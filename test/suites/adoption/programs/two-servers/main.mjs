import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { pool } from '../pool.mjs';

const api = createServer((request, response) => {
  if (request.url === '/') response.end('hello');
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
  else response.writeHead(404).end();
});
const admin = createServer((request, response) => {
  if (request.url === '/') response.end('admin');
  else response.writeHead(404).end();
});

api.listen(process.env.PORT ?? 3000);
admin.listen(process.env.ADMIN_PORT ?? 3001);

process.on('SIGTERM', async () => {
  const closed = await Promise.allSettled([api, admin].map((server) => promisify(server.close.bind(server))()));
  await pool.end();
  process.exit(closed.every(({ status }) => status === 'fulfilled') ? 0 : 1);
});
