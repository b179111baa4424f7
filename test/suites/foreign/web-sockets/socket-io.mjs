import { createServer } from 'node:http';
import { lameduck } from 'lameduck';
import { Server } from 'socket.io';

const server = createServer();
const io = new Server(server);
io.on('connection', (socket) => {
  socket.on('echo', (text, reply) => reply(text));
});
lameduck(server, { longRunning: ({ url = '' }) => url.startsWith('/socket.io/') });

server.listen(Number(process.env.PORT), '127.0.0.1');
