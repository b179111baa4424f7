// Reserves ports for programs that need a port number before they start. These programs cannot listen on port 0.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

// The kernel assigns no port of this range to connect() or to listen(0): on Linux, it assigns ports from 32768 on.
// Kubernetes assigns NodePorts from 30000 on.
const [from, to] = [20_000, 29_999];

/**
 * reservePort returns a TCP port that no other test gets while this process runs. A UDP socket of the same number is
 * the lock: only one process can bind it, and the kernel releases it when that process ends. The TCP port stays free
 * for the program under test.
 */
export async function reservePort(): Promise<number> {
  const first = from + Math.floor(Math.random() * (to - from + 1));
  for (let port = first; port <= to; port++) if ((await lock(port)) && (await isFree(port))) return port;
  return reservePort();
}

/**
 * Binds a UDP socket to the port, so that no other test process reserves the port. Returns whether this succeeded. The
 * socket does not keep the process alive.
 */
async function lock(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  return succeeds(once(socket.bind({ port, exclusive: true }), 'listening'));
}

/** Returns whether the TCP port is free, so that a program can listen on it. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen({ port, exclusive: true });
  if (!(await succeeds(once(server, 'listening')))) return false;
  await once(server.close(), 'close');
  return true;
}

const succeeds = async (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );
