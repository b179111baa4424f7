import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { pool } from '../pool.mjs';

const app = new Hono();
app.get('/', (context) => context.text('hello'));
app.get('/slow', async (context) => {
  await sleep(200);
  return context.text('slow');
});

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });

// This handler is the example of a graceful shutdown in Hono's documentation.
process.on('SIGINT', () => {
  server.close();
  process.exit(0);
});
process.on('SIGTERM', () => {
  server.close(async (error) => {
    if (error) {
      console.error(error);
      process.exit(1);
    }
    await pool.end();
    process.exit(0);
  });
});
