import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { pool } from '../pool.mjs';

const options = { key: readFileSync(process.env.TLS_KEY), cert: readFileSync(process.env.TLS_CERT), allowHTTP1: true };
const server = createSecureServer(options, (request, response) => {
  if (request.url === '/') response.end('hello');
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
  else response.writeHead(404).end();
});

server.listen(process.env.PORT ?? 3000);

process.on('SIGTERM', () => {
  server.close(async (error) => {
    await pool.end();
    process.exit(error ? 1 : 0);
  });
});
