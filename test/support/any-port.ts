// Loaded with --import into a program that names its port. Each listen() gets a free port instead.
import { Server } from 'node:net';

type Listen = (this: Server, ...args: unknown[]) => Server;

// Called below on the server that it was meant for.
// eslint-disable-next-line @typescript-eslint/unbound-method
const listen = Server.prototype.listen as Listen;

Server.prototype.listen = function (this: Server, ...[first, ...rest]: unknown[]): Server {
  if (typeof first === 'number') return listen.call(this, 0, ...rest);
  if (typeof first === 'object' && first !== null) return listen.call(this, { ...first, port: 0 }, ...rest);
  return listen.call(this, first, ...rest);
};
