// This file contains every use of undocumented parts of Node, except the internal messages in
// process/cluster-disconnect.ts and register.cts. Every process with `lameduck/register` loads those two files, so they
// must not load this file. Each undocumented part exists in Node 22, 24 and 26, unless its comment says otherwise. Each
// comment says what happens if the part is missing. A test checks each part on the running Node.
import type { Worker } from 'node:cluster';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket, type AddressInfo, type Server } from 'node:net';

interface ConnectionsList {
  all?(): readonly Parser[];
}

interface Parser {
  readonly socket?: Socket | null;
  readonly incoming?: IncomingMessage | null;
  finish?(): unknown;
}

type Interval = NodeJS.Timeout & { _destroyed?: boolean };

/**
 * connectionsOf lists the open connections of a server. It reads an internal list of Node. Without this list, lameduck
 * finds a connection that was opened before the lifecycle began only at its next request.
 */
export function connectionsOf(server: Server): Socket[] {
  const list = hidden(server, 'http.server.connections') as ConnectionsList | undefined;
  return (list?.all?.() ?? []).flatMap(({ socket }) => socket ?? []);
}

/**
 * sessionsOf lists the open HTTP/2 sessions of a server. It reads an internal list, which Node has since version 24.
 * Without this list, lameduck finds a session that was opened before the lifecycle began only at its next stream.
 */
export function sessionsOf(server: Server): ServerHttp2Session[] {
  const sessions = hidden(server, 'sessions') as Iterable<Partial<ServerHttp2Session>> | undefined;
  if (typeof sessions?.[Symbol.iterator] !== 'function') return [];
  return [...sessions].filter((one) => typeof one.goaway === 'function' && !one.destroyed) as ServerHttp2Session[];
}

/**
 * streamsOf returns the open streams of an HTTP/2 session by their identifiers. It returns an internal map of Node,
 * which Node keeps up to date. Without this map, lameduck counts each stream when it arrives, which takes more time.
 * The drain then does not wait for streams that were opened before the lifecycle began.
 */
export function streamsOf(session: ServerHttp2Session): ReadonlyMap<number, ServerHttp2Stream> {
  const state = hidden(session, 'state') as { readonly streams?: ReadonlyMap<number, ServerHttp2Stream> } | undefined;
  return typeof state?.streams?.get === 'function' ? state.streams : new Map<number, ServerHttp2Stream>();
}

/** Compatible contains the request and response objects that node:http2's compatibility API creates for a stream. */
export interface Compatible {
  readonly request?: { readonly headers: IncomingHttpHeaders } | undefined;
  readonly response?: object | undefined;
}

/**
 * compatibleOf returns the request and response objects that node:http2's compatibility API has created for a stream. A
 * later version of Node may remove the properties that contain these objects. The log would then lack the paths of
 * streams that were opened before the lifecycle began.
 */
export function compatibleOf(stream: ServerHttp2Stream): Compatible {
  const [request, response] = ['request', 'response'].map((name) => hidden(stream, name) ?? undefined);
  return { request: request as Compatible['request'], response };
}

/**
 * serverOf returns the server that accepted a connection. If a later version of Node removed the property `server` of
 * sockets, lameduck would treat an accepted connection as an outgoing connection.
 */
export function serverOf(socket: Socket): Server | undefined {
  return (socket as { server?: Server }).server;
}

/**
 * acceptorOf returns the server that accepted a connection, with or without TLS. If the program has passed the socket
 * to another server, the property `server` names the HTTP server that received the socket. acceptorOf still returns the
 * server that accepted it. If a later version of Node removed the property `_server` of sockets, a server that passes
 * its sockets to an HTTP server would not drain.
 */
export function acceptorOf(socket: Socket): Server | undefined {
  return (tcpSocketOf(socket) as { _server?: Server | null })._server ?? undefined;
}

/**
 * responseOn returns the response to which a socket currently belongs. It reads Node's property `_httpMessage`, which
 * every version of node:http has. Without this property, lameduck would count each request at its arrival, which takes
 * more time.
 */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/**
 * sentHead returns the headers of a response as they were sent, or undefined if they have not been sent. No public
 * property shows the sent headers in every case, and a program may have replaced `headersSent`. If a later version of
 * Node removed the property `_header` of responses, lameduck would recognize no response as an event stream. lameduck
 * would also end a connection only while no bytes arrive or are sent on it.
 */
export function sentHead(response: ServerResponse): string | undefined {
  const { _header: head } = response as unknown as { _header?: unknown };
  return typeof head === 'string' ? head : undefined;
}

/**
 * isInBody tells whether the body of a request is still arriving, even if the request has already been answered. If a
 * later version of Node removed the property `parser` of sockets, lameduck could not detect such a body. It might then
 * close the connection while the client sends.
 */
export function isInBody(socket: Socket): boolean {
  return parserOf(socket)?.incoming?.complete === false;
}

/**
 * isInMessage tells whether only a part of an HTTP/1.1 request has arrived. It returns undefined if Node does not parse
 * HTTP/1.1 on the socket. Empty lines before a request line are not part of the request (RFC 9112 section 2.2). If a
 * later version of Node removed the property `parser` of sockets, isInMessage would always return undefined. lameduck
 * might then close a connection on which only a part of a request has arrived.
 */
export function isInMessage(socket: Socket): boolean | undefined {
  const parser = parserOf(socket);
  if (typeof parser?.finish !== 'function') return undefined;
  // `finish` tells the HTTP parser that the peer has ended the connection, as Node does after a FIN. If only a part of
  // a request has arrived, `finish` returns an error. `finish` changes the parser's state only for a request body that
  // lasts until the connection ends.
  return isInBody(socket) || parser.finish() instanceof Error;
}

/**
 * isNewestRequest tells whether the given request is the newest HTTP/1.1 request that has arrived on a socket. Without
 * the property `parser`, it returns true, and a response may say `Connection: close` although an older pipelined
 * request has no response yet.
 */
export function isNewestRequest(socket: Socket, request: object): boolean {
  return (newestRequestOn(socket) ?? request) === request;
}

/**
 * newestRequestOn returns the newest HTTP/1.1 request that has arrived on a socket. Without the property `parser`, it
 * returns undefined. lameduck then does not count a request if the program has deleted `req` of its response.
 */
export function newestRequestOn(socket: Socket): IncomingMessage | undefined {
  return parserOf(socket)?.incoming ?? undefined;
}

/**
 * isEmittedByProgram tells whether the program itself has emitted a request, with the socket of a request of a client.
 * An example is a batch: a handler emits several requests on its own server, and collects the responses. Node gives the
 * response of a client's request to the socket, or lets it wait for an older one. In the second case, the request is
 * the newest of its socket. Without the properties `_httpMessage` and `parser`, isEmittedByProgram returns false, and
 * the drain waits for the response to such a request.
 */
export function isEmittedByProgram(request: IncomingMessage, response: ServerResponse): boolean {
  const { socket } = request;
  const current = responseOn(socket);
  return current !== response && (current?.req === request || !isNewestRequest(socket, request));
}

/**
 * isHttp1 tells whether Node's HTTP/1.1 parser is attached to a socket. The comment of `isInMessage` says what lameduck
 * does without the property `parser`.
 */
export function isHttp1(socket: Socket): boolean {
  return typeof parserOf(socket)?.finish === 'function';
}

function parserOf(socket: Socket): Parser | null | undefined {
  return (socket as { parser?: Parser | null }).parser;
}

/**
 * hasBeenClosed tells whether a server has been closed. No public property distinguishes a closed server from a server
 * that has never listened. If a later version of Node removed the property that `checkingInterval` reads, the lifecycle
 * of a closed server would wait for `listening` forever.
 */
export function hasBeenClosed(server: Server): boolean {
  return !server.listening && checkingInterval(server)?._destroyed === true;
}

/**
 * checkingInterval returns the timer with which Node checks a server for requests that take too long. A server has this
 * timer once it has listened. If a later version of Node removed the property that contains the timer, lameduck could
 * not clear the timer.
 */
export function checkingInterval(server: Server): Interval | undefined {
  return hidden(server, 'http.server.connectionsCheckingInterval') as Interval | undefined;
}

/**
 * socketUnder returns the real socket of an HTTP/2 session. `session.socket` is a JavaScript Proxy, through which the
 * socket can be neither written to nor destroyed. The method `off` of this Proxy returns the real socket. If `off`
 * returned a different object in a later version of Node, the drain could not destroy the connection of a session.
 */
export function socketUnder({ socket }: Http2Session): Socket {
  // The proxy `session.socket` passes the call of `off` to the real socket, and returns the real socket. `socketUnder`
  // is no listener of the socket, so `off` removes nothing.
  return socket.off('close', socketUnder);
}

/**
 * isHandedOver tells whether a socket has been sent to another process. In this case, Node sets the socket's property
 * `_handle` to null and emits no event. If a later version of Node removed this property, lameduck would count such a
 * connection until its socket closes.
 */
export function isHandedOver(socket: Socket): boolean {
  return (socket as { _handle?: unknown })._handle === null && !socket.connecting;
}

/**
 * tcpSocketOf returns the TCP socket under a TLS socket. Any other socket is returned unchanged. If a later version of
 * Node removed the property `_parent` of sockets, tcpSocketOf would return the TLS socket. lameduck would then keep its
 * record of the TLS handshake until the connection ends, and would not notice a part of a TLS record.
 */
export function tcpSocketOf(socket: Socket): Socket {
  return (socket as { _parent?: Socket | null })._parent ?? socket;
}

/**
 * queuedBytes returns the number of bytes that were written to a socket but that the kernel has not accepted yet. If a
 * later version of Node removed the property `writeQueueSize` of handles, queuedBytes would return undefined. lameduck
 * would then send only one GOAWAY instead of two on an HTTP/2 session.
 */
export function queuedBytes(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize;
}

type TellAddress = (out: Partial<AddressInfo>) => number;

/**
 * TcpHandle is the libuv handle of a TCP connection or of a listening TCP socket. All TCP handles share one prototype.
 */
export interface TcpHandle {
  connect(request: object, address: string, port: number, ...rest: unknown[]): number;
  connect6(request: object, address: string, port: number, ...rest: unknown[]): number;
  getsockname: TellAddress;
  getpeername: TellAddress;
}

/**
 * tcpHandleOf returns the TCP handle of a socket or server. It returns undefined if there is no TCP handle, or if the
 * handle has no method `connect6`. If a later version of Node removed this method, lameduck could not redirect
 * connections. After the servers have stopped listening, requests of the program to itself would then be refused.
 */
export function tcpHandleOf(owner: Server | Socket): TcpHandle | undefined {
  const { _handle: handle } = owner as { _handle?: Partial<TcpHandle> | null };
  return typeof handle?.connect6 === 'function' ? (handle as TcpHandle) : undefined;
}

/**
 * socketsMade lists the outgoing sockets of this thread. It excludes sockets that a server has accepted. If a later
 * version of Node removed `_getActiveHandles`, a connection that the process makes to itself would count as a
 * connection of a client.
 */
export function socketsMade(): Socket[] {
  const { _getActiveHandles: activeHandles } = process as { _getActiveHandles?: () => unknown[] };
  const sockets = (activeHandles?.call(process) ?? []).filter((handle) => handle instanceof Socket);
  return sockets.filter((socket) => (serverOf(socket) ?? null) === null);
}

/**
 * sendsFile tells whether the response on a stream is a file. In Node, such a stream ends before Node sends the file,
 * and Node replaces the stream's `_final`. If a later version of Node did not replace `_final`, lameduck would count a
 * file as sent too early: when Node begins to send it.
 */
export function sendsFile(stream: ServerHttp2Stream): boolean {
  return Object.hasOwn(stream, '_final');
}

// The states of an HTTP/2 stream in the library nghttp2 that mean that the stream has ended. State 7 is "closed". State
// 1 is "idle", which nghttp2 reports for a stream that it has deleted.
const statesOfEnded: readonly unknown[] = [1, 7];

/**
 * hasEnded tells whether an HTTP/2 stream has ended in nghttp2. If a later version of Node did not provide nghttp2's
 * states, a stream that the client has cancelled would count as open. The drain would then wait for this stream until
 * the deadline of the drain.
 */
export function hasEnded(stream: ServerHttp2Stream): boolean {
  return statesOfEnded.includes(stream.state.state);
}

/**
 * isClosedHere tells whether the server has ended its side of an HTTP/2 stream with the flag END_STREAM. If a later
 * version of Node removed the property `localClose` of streams, lameduck would detect this only when the whole stream
 * is closed.
 */
export function isClosedHere(stream: ServerHttp2Stream): boolean {
  return stream.state.localClose === 1;
}

/**
 * allowHalfOpen lets an HTTP/1.1 server answer a client that has already sent its FIN (P-014). By default, Node aborts
 * the request of such a client. During a drain, the client could not repeat this request. If a later version of Node
 * removed the property `httpAllowHalfOpen` of servers, Node would abort such requests as it does by default.
 */
export function allowHalfOpen(server: Server): void {
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
}

/**
 * AcceptingHandle contains those members of a server's internal property `_handle` that Node uses to accept
 * connections.
 */
export interface AcceptingHandle {
  onconnection: (...args: unknown[]) => unknown;
  close(): void;
}

/**
 * acceptingHandle returns the handle with which a server accepts connections, or null if the server has no handle. A
 * server whose connections node:cluster passes to workers has no handle. If a later version of Node removed the
 * property `_handle` of servers, a primary could not find the listening sockets that its workers share. Each worker
 * would then close its own listening socket.
 */
export function acceptingHandle(server: Server): AcceptingHandle | null {
  return (server as unknown as { readonly _handle?: AcceptingHandle | null })._handle ?? null;
}

/**
 * onAcceptedBy calls `callback` each time a worker of node:cluster accepts a connection that the primary has passed to
 * the worker. It reads Node's internal message `accepted`. If a later version of Node no longer sent that message,
 * closing a shared listening socket would take one second longer.
 */
export function onAcceptedBy({ process: child }: Worker, callback: () => void): void {
  child.on('internalMessage', (message: unknown) => {
    if ((message as { readonly accepted?: unknown } | null)?.accepted === true) callback();
  });
}

/**
 * InternalChannel is one end of a channel between two processes or threads. The program does not see lameduck's
 * messages on this channel.
 */
export interface InternalChannel {
  readonly connected?: boolean;
  send?(message: object, callback: (error: Error | null) => void): unknown;
  on(event: string, listener: (message: unknown) => void): unknown;
}

// The value of `cmd` in every message of lameduck. Node emits a message whose `cmd` begins with NODE_ as
// `internalMessage`, so listeners of the program do not see it.
const command = 'NODE_LAMEDUCK';

/**
 * sendInternal sends a message through a channel to another process or thread, which receives the message with
 * `onInternal`. If the channel is closed, sendInternal does nothing.
 */
export function sendInternal(channel: InternalChannel, message: object): void {
  // Pass a callback to `send`. Without a callback, an error of the channel would be an uncaught error in the program.
  if (channel.connected === true) channel.send?.({ cmd: command, ...message }, () => undefined);
}

/**
 * onInternal calls `callback` for each message of lameduck that arrives on the channel. If a later version of Node had
 * no event `internalMessage`, the program's `message` listeners would receive these messages. A primary and its workers
 * would then treat each other as processes without a lifecycle.
 */
export function onInternal(channel: InternalChannel, callback: (message: object) => void): void {
  channel.on('internalMessage', (message) => {
    if ((message as { readonly cmd?: unknown } | null)?.cmd === command) callback(message as object);
  });
}

/**
 * ListenerHandle contains the methods of a server's property `_handle` that Node still calls after the server has
 * stopped listening.
 */
export interface ListenerHandle {
  close(): void;
  ref(): void;
  unref(): void;
  getsockname?(out: Partial<AddressInfo>): number;
}

/**
 * If a server has lost its handle, standIn sets a substitute, so that the server still seems to listen and the
 * program's `close()` succeeds. If a later version of Node removed the property `_handle` of servers, `close()` would
 * throw ERR_SERVER_NOT_RUNNING.
 */
export function standIn(server: Server, handle: ListenerHandle): void {
  (server as unknown as Handled)._handle ??= handle;
}

/**
 * removeStandIn removes the substitute that `standIn` has set in place of a server's handle. The function `isStandIn`
 * tells whether a handle is such a substitute.
 */
export function removeStandIn(server: Server, isStandIn: (handle: object | null) => boolean): void {
  const handled = server as unknown as Handled;
  if (isStandIn(handled._handle)) handled._handle = null;
}

interface Handled {
  _handle: ListenerHandle | null;
}

/**
 * enhancedStackOf returns the stack of an error. If the error is an `error` event without a listener, the stack shows
 * the place where it was emitted. Node computes this stack with a hidden function on the error. If this function is
 * missing, enhancedStackOf returns undefined.
 */
export function enhancedStackOf(error: object): unknown {
  const enhance = hidden(error, 'kEnhanceStackBeforeInspector');
  return typeof enhance === 'function' ? (enhance as () => unknown)() : undefined;
}

/** ReallyExit is the type of `process.reallyExit`, which ends the process. It must be called as a method of `process`. */
export type ReallyExit = (this: unknown, code: number) => void;

/**
 * reallyExitOf returns the internal function `reallyExit`, with which `process.exit()` ends the process. If Node has no
 * `reallyExit`, it returns the current `process.exit`. Even if the program replaces `process.exit` later, lameduck
 * calls the returned function.
 */
export function reallyExitOf(target: NodeJS.Process): ReallyExit {
  const { exit, reallyExit = exit } = target as unknown as { exit: ReallyExit; reallyExit?: ReallyExit };
  return reallyExit;
}

function hidden(owner: object, description: string): unknown {
  const key = Object.getOwnPropertySymbols(owner).find((symbol) => symbol.description === description);
  return key === undefined ? undefined : (owner as Record<symbol, unknown>)[key];
}
