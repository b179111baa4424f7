import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { pool } from '../pool.mjs';

const server = createServer((request, response) => {
  if (request.url === '/') response.end('hello');
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
  else response.writeHead(404).end();
});
const io = new Server(server);
io.on('connection', (socket) => {
  socket.on('echo', (text, reply) => reply(text));
});

server.listen(process.env.PORT ?? 3000);

process.on('SIGTERM', () => {
  // Disconnects every socket and closes the server.
  io.close(async (error) => {
    await pool.end();
    process.exit(error ? 1 : 0);
  });
});
