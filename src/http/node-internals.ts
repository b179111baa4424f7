// Reads Node's internal properties of servers and sockets. A new version of Node may not have them, so each access is guarded.
import type { ServerResponse } from 'node:http';
import type { Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket, type AddressInfo, type Server } from 'node:net';

interface ConnectionsList {
  all?(): readonly Parser[];
}

interface Parser {
  readonly socket?: Socket | null;
  readonly incoming?: { readonly complete: boolean } | null;
  finish?(): unknown;
}

type Interval = NodeJS.Timeout & { _destroyed?: boolean };

/** connectionsOf lists the connections that a server has. */
export function connectionsOf(server: Server): Socket[] {
  const list = hidden(server, 'http.server.connections') as ConnectionsList | undefined;
  return (list?.all?.() ?? []).flatMap(({ socket }) => socket ?? []);
}

/** sessionsOf lists the sessions of HTTP/2 that a server has; none before Node 24, which was the first to keep them. */
export function sessionsOf(server: Server): ServerHttp2Session[] {
  const sessions = hidden(server, 'sessions') as Iterable<Partial<ServerHttp2Session>> | undefined;
  if (typeof sessions?.[Symbol.iterator] !== 'function') return [];
  return [...sessions].filter((one) => typeof one.goaway === 'function' && !one.destroyed) as ServerHttp2Session[];
}

/** serverOf returns the server that has accepted a connection; undefined when Node does not tell. */
export function serverOf(socket: Socket): Server | undefined {
  return (socket as { server?: Server }).server;
}

/** responseOn returns the response that a socket sends, or waits for: Node's own note of it, as old as node:http. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** sentHead returns the head of a response as it was sent; undefined before that. Nothing public tells it in every case. */
export function sentHead(response: ServerResponse): string | undefined {
  const { _header: head } = response as unknown as { _header?: unknown };
  return response.headersSent && typeof head === 'string' ? head : undefined;
}

/** isInBody tells whether the body of a request is on its way, answered or not. */
export function isInBody(socket: Socket): boolean {
  return parserOf(socket)?.incoming?.complete === false;
}

/**
 * isInMessage tells whether a request of HTTP/1.1 has begun on a socket and is not whole; undefined where Node does not
 * parse one. Line ends before a request line are no part of it (RFC 9112 section 2.2).
 */
export function isInMessage(socket: Socket): boolean | undefined {
  const parser = parserOf(socket);
  if (typeof parser?.finish !== 'function') return undefined;
  // Node makes the same call when a socket ends. It has an effect only on a body that the end of the socket completes.
  return isInBody(socket) || parser.finish() instanceof Error;
}

function parserOf(socket: Socket): Parser | null | undefined {
  return (socket as { parser?: Parser | null }).parser;
}

/** hasBeenClosed tells a closed server from one that has never listened, which nothing public does. */
export function hasBeenClosed(server: Server): boolean {
  return !server.listening && checkingInterval(server)?._destroyed === true;
}

/**
 * checkingInterval returns Node's interval that looks for requests that take too long; it is there once a server has
 * listened.
 */
export function checkingInterval(server: Server): Interval | undefined {
  return hidden(server, 'http.server.connectionsCheckingInterval') as Interval | undefined;
}

/** socketUnder returns the socket of a session of HTTP/2, of which Node shows one that can be neither written to nor destroyed. */
export function socketUnder({ socket }: Http2Session): Socket {
  // An emitter returns itself, and not what stands in for it.
  return socket.off('close', socketUnder);
}

/** isHandedOver tells whether a socket has been sent to another process: Node takes it away without an event. */
export function isHandedOver(socket: Socket): boolean {
  return (socket as { _handle?: unknown })._handle === null && !socket.connecting;
}

/** tcpSocketOf returns the socket of the TCP connection: for a TLS socket the one under it, where Node tells. */
export function tcpSocketOf(socket: Socket): Socket {
  return (socket as { _parent?: Socket | null })._parent ?? socket;
}

/** queuedBytes returns how many written bytes the kernel has not accepted yet, or undefined if Node does not know. */
export function queuedBytes(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize;
}

type TellAddress = (out: Partial<AddressInfo>) => number;

/** TcpHandle is the TCP connection under a socket, or the listener under a server. All of them share one prototype. */
export interface TcpHandle {
  connect(request: object, address: string, port: number, ...rest: unknown[]): number;
  connect6(request: object, address: string, port: number, ...rest: unknown[]): number;
  getsockname: TellAddress;
  getpeername: TellAddress;
}

/** tcpHandleOf returns the handle of a socket or server; undefined if it has none, or one of another kind. */
export function tcpHandleOf(owner: Server | Socket): TcpHandle | undefined {
  const { _handle: handle } = owner as { _handle?: Partial<TcpHandle> | null };
  return typeof handle?.connect6 === 'function' ? (handle as TcpHandle) : undefined;
}

/** socketsMade lists the sockets that this thread has connected or is connecting. Those that a server accepted have a server. */
export function socketsMade(): Socket[] {
  const { _getActiveHandles: activeHandles } = process as { _getActiveHandles?: () => unknown[] };
  const sockets = (activeHandles?.call(process) ?? []).filter((handle) => handle instanceof Socket);
  return sockets.filter((socket) => (serverOf(socket) ?? null) === null);
}

/** sendsFile tells whether the response of a stream is a file. Node ends such a stream before the file, and replaces `_final`. */
export function sendsFile(stream: ServerHttp2Stream): boolean {
  return Object.hasOwn(stream, '_final');
}

function hidden(server: Server, description: string): unknown {
  const key = Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === description);
  return key === undefined ? undefined : (server as unknown as Record<symbol, unknown>)[key];
}
