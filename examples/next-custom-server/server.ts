import { createServer } from 'node:http';
import next from 'next';
import { lameduck } from 'lameduck';

const app = next({ dev: process.env.NODE_ENV !== 'production' });
await app.prepare();

const handle = app.getRequestHandler();
const server = createServer((request, response) => void handle(request, response));
const duck = lameduck(server); // call lameduck() before listen(), which starts the lifecycle
duck.addDestroyHook('database', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

server.listen(Number(process.env.PORT ?? 8080));
