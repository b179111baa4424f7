// Opens a connection, with TLS if the server uses it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { World } from './world.ts';

export interface Dialed {
  readonly socket: Socket;
  /** The client's local port. The server sees it as the remote port of this connection. */
  readonly port: number;
}

/** `dial()` connects. It returns undefined if the server refuses the connection or has ended. */
export async function dial(
  world: World,
  name: string,
  protocol: string,
  allowHalfOpen = false,
): Promise<Dialed | undefined> {
  const raw = connect({ port: world.port, host: '127.0.0.1', noDelay: true, allowHalfOpen });
  // A socket error may occur at any time. Without a listener for `error`, the socket error would be an uncaught error
  // of the test.
  raw.on('error', () => undefined);
  try {
    await once(raw, 'connect');
  } catch (error) {
    world.refuse(`${name}: connect ${(error as NodeJS.ErrnoException).code ?? ''}`);
    return undefined;
  }
  const port = raw.localPort ?? 0;
  if (!world.isSecure) return { socket: raw, port };
  const socket = connectSecure({ socket: raw, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('secureConnect', () => {
      resolve(true);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      resolve(false);
    });
  });
  if (isOpen) return { socket, port };
  world.reset(port, `${name}: TLS`);
  return undefined;
}
