// A TypeScript server as tsx starts it. With LIFECYCLE=code, it calls lameduck(). A request to /held gets its response when
// its body is complete.
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
