import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { lameduck } from 'lameduck';

const server = createServer((request, response) => {
  if (request.url === '/slow') setTimeout(() => response.end('slow\n'), 200);
  else response.end('hello\n');
});
lameduck(server); // each socket is closed with 1001, one after another; io.close() is not needed

const io = new Server(server);
io.on('connection', (socket) => {
  socket.on('echo', (text: string, reply: (text: string) => void) => reply(text));
});

server.listen(Number(process.env.PORT ?? 8080));
