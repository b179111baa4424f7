// A test loads this file with `--import` into a program that listens on a fixed port. Each listen() of the program then
// uses a free port instead.
import { Server } from 'node:net';

type Listen = (this: Server, ...args: unknown[]) => Server;

// This method is called with its own server as its `this`.
// eslint-disable-next-line @typescript-eslint/unbound-method
const listen = Server.prototype.listen as Listen;

Server.prototype.listen = function (this: Server, ...[first, ...rest]: unknown[]): Server {
  if (typeof first === 'number') return listen.call(this, 0, ...rest);
  if (typeof first === 'object' && first !== null) return listen.call(this, { ...first, port: 0 }, ...rest);
  return listen.call(this, first, ...rest);
};
