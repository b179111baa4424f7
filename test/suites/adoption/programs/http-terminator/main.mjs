import { createServer } from 'node:http';
import { createHttpTerminator } from 'http-terminator';
import { pool } from '../pool.mjs';

const server = createServer((request, response) => {
  if (request.url === '/') response.end('hello');
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
  else response.writeHead(404).end();
});
const httpTerminator = createHttpTerminator({ server });

server.listen(process.env.PORT ?? 3000);

process.on('SIGTERM', async () => {
  await httpTerminator.terminate();
  await pool.end();
  process.exit(0);
});
