// A TypeScript server that the tests start with tsx. With LIFECYCLE=code, the server calls lameduck(). The server
// responds to a request when the whole body of the request has arrived.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lameduck } from 'lameduck';

const server = createServer((request, response) => {
  request.resume().on('end', () => response.end('served'));
});
if (process.env['LIFECYCLE'] === 'code') lameduck(server);
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'listening', port: (server.address() as AddressInfo).port }));
});
