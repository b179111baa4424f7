// The client that sends messages on WebSockets. The server sends each message back.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { sendAll } from './send-all.ts';
import { concurrent, type Client } from './client.ts';

export const webSocket: Client = {
  async load(port) {
    const sockets = await Promise.all(Array.from({ length: concurrent }, () => open(port)));
    const senders = sockets.map((socket) => () => echo(socket));
    return {
      run: (messages) => sendAll(senders, messages),
      [Symbol.dispose]: () => {
        for (const socket of sockets) socket.terminate();
      },
    };
  },
  async once(port) {
    const socket = await open(port);
    await echo(socket);
    socket.close();
    await once(socket, 'close');
  },
  async idle(port) {
    const socket = await open(port);
    return { [Symbol.dispose]: () => socket.terminate() };
  },
};

async function open(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${String(port)}/`, { perMessageDeflate: false });
  await once(socket, 'open');
  return socket;
}

async function echo(socket: WebSocket): Promise<void> {
  const response = once(socket, 'message');
  socket.send('hello');
  await response;
}
