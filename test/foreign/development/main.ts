import { writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lameduck } from 'lameduck';

const server = createServer((_request, response) => {
  response.end('hello');
});
lameduck(server, { shutdownDelayDuration: '10s' });
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ msg: 'listening', port, pid: process.pid }));
});
process.on('exit', () => {
  writeSync(1, `${JSON.stringify({ msg: 'exit', time: Date.now() })}\n`);
});
