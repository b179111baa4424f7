// The server that is shut down. It responds 10 ms after the last byte of a request has arrived, and prints which
// connections it has accepted.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { implementations } from '../implementations.ts';

const [name = '', delay] = process.argv.slice(2);

const server = createServer((request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => (bytes += chunk.length));
  request.on('end', () => {
    setTimeout(() => response.end(`${String(bytes)}\n`), 10);
  });
});
// This listener runs before the listeners of the measured shutdown package, which may destroy the connection. It prints
// each connection immediately, because a process that is killed cannot print a list when it ends.
server.on('connection', ({ remotePort }) => {
  console.log(`accepted ${String(remotePort)}`);
});
await implementations[name]?.(server, delay === undefined ? undefined : Number(delay));
server.listen(0, () => {
  console.log(`listening ${String((server.address() as AddressInfo).port)}`);
});
