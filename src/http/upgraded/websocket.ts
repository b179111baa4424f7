// Finds the WebSocket object that `ws`, or a package that uses `ws`, stores on a socket.

/** WebSocket contains the members of a WebSocket of `ws` that lameduck needs to close that WebSocket. */
export interface WebSocket {
  /** bufferedAmount is the number of written bytes that the kernel has not accepted yet. */
  readonly bufferedAmount: number;
  close(code: number, reason: string): void;
}

// The close code of a WebSocket for an endpoint that is going away (RFC 6455, 7.4.1).
const goingAway = 1_001;

/**
 * webSocketOn returns the WebSocket object on a socket, if there is one. Only that object may send the close frame,
 * because only it knows where a frame ends. A close frame inside another frame is a protocol error (P-039).
 */
export function webSocketOn(socket: object): WebSocket | undefined {
  for (const key of Object.getOwnPropertySymbols(socket)) {
    if (key.description !== 'websocket') continue;
    const left: unknown = (socket as Record<symbol, unknown>)[key];
    if (isWebSocket(left)) return left;
  }
  return undefined;
}

/**
 * sayGoingAway sends a close frame with 1001, unless the closing handshake has already begun. It returns false if the
 * object has no such method.
 */
export function sayGoingAway(webSocket: WebSocket): boolean {
  try {
    webSocket.close(goingAway, 'the server is shutting down');
    return true;
  } catch {
    // `webSocket` does not come from the package `ws`, because its `close()` has thrown. Its socket is therefore ended
    // like any other upgraded socket.
    return false;
  }
}

function isWebSocket(left: unknown): left is WebSocket {
  const { close, bufferedAmount } = (left ?? {}) as Partial<WebSocket>;
  return typeof close === 'function' && typeof bufferedAmount === 'number';
}
