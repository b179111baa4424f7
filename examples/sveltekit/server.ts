import { createServer } from 'node:http';
import { lameduck } from 'lameduck';
// Do not import build/index.js, because it listens and handles SIGTERM itself.
import { handler } from './build/handler.js';

const server = createServer(handler);
const duck = lameduck(server); // call lameduck() before listen(), which starts the lifecycle
duck.addDestroyHook('database', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

server.listen(Number(process.env.PORT ?? 8080));
