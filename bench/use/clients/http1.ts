// The client that sends requests over HTTP/1.1.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Load } from '../../price/load.ts';
import { lengthOf } from '../../price/measure.ts';
import { concurrent, type Client } from './client.ts';

export const http1: Client = {
  async load(port) {
    return Load.open(port, concurrent, await lengthOf(port));
  },
  async once(port) {
    const socket = connect(port, '127.0.0.1');
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
  },
  async idle(port) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return { [Symbol.dispose]: () => socket.destroy() };
  },
};
