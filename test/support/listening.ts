// Lets a server of any kind listen on a free port. The server and its connections are closed when the test ends.
import { once } from 'node:events';
import type { Http2Server } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** `listen()` resolves with the port on which the server listens. */
export async function listen(t: TestContext, server: Server | Http2Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
