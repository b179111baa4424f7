// One process with two HTTP servers: a gateway, and the upstream service to which the gateway sends requests.
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { pool } from '../pool.mjs';

const service = express();
service.get('/', async (request, response) => {
  await sleep(20);
  response.send('hello');
});
service.get('/slow', async (request, response) => {
  await sleep(200);
  response.send('slow');
});
const upstream = service.listen(0, () => {
  const target = `http://localhost:${upstream.address().port}`;
  const gateway = express();
  gateway.use(createProxyMiddleware({ target, agent: new Agent({ keepAlive: true }) }));
  const server = gateway.listen(process.env.PORT ?? 3000);

  process.on('SIGTERM', () => {
    server.close(async (error) => {
      await pool.end();
      process.exit(error ? 1 : 0);
    });
  });
});
