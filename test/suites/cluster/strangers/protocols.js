// A service for the protocols that the other services do not speak. It serves HTTP/2 without TLS on its port, and
// WebSockets on its port + 2. It does not import lameduck.
import { createServer } from 'node:http2';
import { hostname } from 'node:os';
import { WebSocketServer } from 'ws';

const port = Number(process.env.PORT);

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    response.writeHead(201, { 'Content-Type': 'application/json', 'X-Served-By': hostname() });
    response.end(JSON.stringify({ accepted: JSON.parse(body) }));
  });
});
server.listen(port);

new WebSocketServer({ port: port + 2 }).on('connection', (socket) => {
  socket.on('error', () => undefined);
  socket.on('message', (message) => {
    socket.send(`${message} ${hostname()}`);
  });
});
