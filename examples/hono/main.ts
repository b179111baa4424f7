import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { lameduck } from 'lameduck';

const app = new Hono();
app.get('/', (context) => context.text('hello\n'));
app.get('/slow', async (context) => {
  await sleep(200);
  return context.text('slow\n');
});

// serve() of Hono would listen at once, but lameduck needs the server before it listens.
const server = createAdaptorServer(app);
const duck = lameduck(server);
duck.addDestroyHook('database', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

server.listen(Number(process.env.PORT ?? 8080));
