import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import Fastify from 'fastify';
import { pool } from '../pool.mjs';

const app = Fastify();
app.get('/', async () => 'hello');
app.get('/slow', async () => {
  await sleep(200);
  return 'slow';
});
app.addHook('onClose', () => pool.end());

closeWithGrace({ delay: 500 }, async ({ err }) => {
  if (err) app.log.error(err);
  await app.close();
});

await app.listen({ host: '0.0.0.0', port: Number(process.env.PORT ?? 3000) });
