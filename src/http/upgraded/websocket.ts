// The WebSocket that the package `ws`, and what is built on it, leaves on the socket that it speaks over.

/** WebSocket is as much of one as is needed to end it. */
export interface WebSocket {
  /** How many bytes have not been handed to the kernel yet. */
  readonly bufferedAmount: number;
  close(code: number, reason: string): void;
}

// Registered with the Internet Assigned Numbers Authority: an endpoint is going away (RFC 6455, 7.4.1).
const goingAway = 1_001;

/**
 * webSocketOn returns the WebSocket that has been left on a socket, if there is one. Only it knows where a frame ends:
 * a close frame in the middle of another one, written by anybody else, is an error to the peer (P-039).
 */
export function webSocketOn(socket: object): WebSocket | undefined {
  for (const key of Object.getOwnPropertySymbols(socket)) {
    if (key.description !== 'websocket') continue;
    const left: unknown = (socket as Record<symbol, unknown>)[key];
    if (isWebSocket(left)) return left;
  }
  return undefined;
}

/** sayGoingAway begins the closing handshake; false when the WebSocket cannot do that. One that has begun goes on. */
export function sayGoingAway(webSocket: WebSocket): boolean {
  try {
    webSocket.close(goingAway, 'the server is shutting down');
    return true;
  } catch {
    // Not what it looked like, so its socket is ended like any other.
    return false;
  }
}

function isWebSocket(left: unknown): left is WebSocket {
  const { close, bufferedAmount } = (left ?? {}) as Partial<WebSocket>;
  return typeof close === 'function' && typeof bufferedAmount === 'number';
}
