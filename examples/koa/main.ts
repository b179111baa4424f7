import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { lameduck } from 'lameduck';

const app = new Koa();
app.use(async (context) => {
  if (context.path === '/slow') await sleep(200);
  context.body = 'hello\n';
});

// app.listen() would listen at once. With createServer(), checks and hooks can be added at any time before listen().
// Koa's callback returns a promise that no server awaits.
const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
const duck = lameduck(server);
duck.addDestroyHook('database', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

server.listen(Number(process.env.PORT ?? 8080));
