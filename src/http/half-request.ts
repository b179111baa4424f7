// Requests of HTTP/1.1 of which only a part has arrived, as Node's parser knows it.
import type { Server, Socket } from 'node:net';
import type { Connection } from './connection.ts';
import { isInBody, listsMessages, serverOf, socketsInMessage } from './hidden-fields.ts';

// How much of a body, in bytes, is still read on a connection that waits for nothing else (P-026).
const mostBytes = 1_048_576;

/** longestBehindAnswer is for how many milliseconds of the drain a body is read whose request is answered (P-026). */
export const longestBehindAnswer = 1_000;

/**
 * withoutHalfHeads leaves out the connections on which a request line or headers have begun, of a request that is served
 * when the rest comes (P-012); one that came late would be refused.
 */
export function withoutHalfHeads(connections: readonly Connection[]): readonly Connection[] {
  const servers = new Set(connections.flatMap(({ socket }) => serverOf(socket) ?? []));
  const inMessage = new Set([...servers].flatMap(socketsInMessage));
  return connections.filter(
    ({ socket, hasSpoken, isLate }) => isLate || !hasSpoken || !inMessage.has(socket) || isInBody(socket),
  );
}

/**
 * messageLookup returns a function that tells whether the bytes of a connection begin or continue a message. It looks at
 * Node's list of each server once, when it is first needed. Where Node has no list, and in every protocol but HTTP/1.1,
 * all bytes count.
 */
export function messageLookup(): (connection: Connection) => boolean {
  const inMessage = new Map<Server, ReadonlySet<Socket> | undefined>();
  return ({ socket, isUpgraded }) => {
    const server = serverOf(socket);
    if (isUpgraded || server === undefined) return true;
    if (!inMessage.has(server))
      inMessage.set(server, listsMessages(server) ? new Set(socketsInMessage(server)) : undefined);
    return inMessage.get(server)?.has(socket) ?? true;
  };
}

/** AnsweredUploads watches over bodies that go on behind the answer to their request. */
export class AnsweredUploads {
  readonly #begun = new WeakMap<Connection, { readonly at: number; readonly bytesRead: number }>();

  /** isTooLong tells whether one has gone on for longer than it may; asked again and again. */
  isTooLong(connection: Connection, now: number): boolean {
    const { socket } = connection;
    if (!isInBody(socket)) {
      this.#begun.delete(connection);
      return false;
    }
    const begun = this.#begun.get(connection) ?? { at: now, bytesRead: socket.bytesRead };
    this.#begun.set(connection, begun);
    return now - begun.at >= longestBehindAnswer || socket.bytesRead - begun.bytesRead >= mostBytes;
  }
}
