// A Socket.IO server on node:http, in a program that does not use lameduck.
import { createServer } from 'node:http';
import { Server } from 'socket.io';

const server = createServer();
const io = new Server(server);
io.on('connection', (socket) => {
  socket.on('echo', (text, reply) => reply(text));
});

server.listen(Number(process.env.PORT), '127.0.0.1');
