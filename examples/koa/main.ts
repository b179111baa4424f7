import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { lameduck } from 'lameduck';

const app = new Koa();
app.use(async (context) => {
  if (context.path === '/slow') await sleep(200);
  context.body = 'hello\n';
});

// Use createServer() instead of app.listen(), which would listen at once. The program can then add checks and hooks
// before listen(). The promise that Koa's callback returns can be ignored, because node:http does not await a handler.
const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
const duck = lameduck(server);
duck.addDestroyHook('database', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

server.listen(Number(process.env.PORT ?? 8080));
