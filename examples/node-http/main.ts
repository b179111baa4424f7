import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const server = createServer((request, response) => {
  if (request.url === '/slow') setTimeout(() => response.end('slow\n'), 200);
  else response.end('hello\n');
});

const duck = lameduck(server); // call lameduck() before listen(), which starts the lifecycle
duck.addDestroyHook('database', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

server.listen(Number(process.env.PORT ?? 8080));
