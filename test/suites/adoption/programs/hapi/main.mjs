import { setTimeout as sleep } from 'node:timers/promises';
import Hapi from '@hapi/hapi';
import { pool } from '../pool.mjs';

const server = Hapi.server({ port: process.env.PORT ?? 3000 });
server.route({ method: 'GET', path: '/', handler: () => 'hello' });
server.route({
  method: 'GET',
  path: '/slow',
  handler: async () => {
    await sleep(200);
    return 'slow';
  },
});
server.ext('onPostStop', () => pool.end());

await server.start();

process.once('SIGTERM', async () => {
  await server.stop({ timeout: 5_000 });
  process.exit(0);
});
