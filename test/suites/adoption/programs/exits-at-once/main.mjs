import { createServer } from 'node:http';

const server = createServer((request, response) => {
  if (request.url === '/') response.end('hello');
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
  else response.writeHead(404).end();
});

server.listen(process.env.PORT ?? 3000);

process.on('SIGTERM', () => {
  console.log('pool closed');
  process.exit(143);
});
