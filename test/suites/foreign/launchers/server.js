// A server that launchers such as PM2 can start. The server responds to a request when the whole body of the request
// has arrived.
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const server = createServer((request, response) => {
  request.resume().on('end', () => response.end('served'));
});
lameduck(server, { shutdownDelayDuration: '0s' });
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'listening', port: server.address().port }));
});
