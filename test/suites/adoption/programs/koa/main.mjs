import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import Koa from 'koa';
import { pool } from '../pool.mjs';

const app = new Koa();
app.use(async (context) => {
  if (context.path === '/') {
    context.body = 'hello';
  } else if (context.path === '/slow') {
    await sleep(200);
    context.body = 'slow';
  }
});

const server = app.listen(process.env.PORT ?? 3000);

process.once('SIGTERM', async () => {
  // If `server.close()` fails, the promise that this SIGTERM listener returns is rejected. No code handles the
  // rejection, so Node ends the process with exit code 1.
  await promisify(server.close.bind(server))();
  await pool.end();
  process.exit();
});
