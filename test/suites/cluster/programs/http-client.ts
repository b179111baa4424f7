// An HTTP/1.1 client that keeps its connection, or opens one for each request. It never sends a request a second time.
import { randomUUID } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { answerLimit, type Client, type Exchange, type Kind, type LastingKind, type Outcome } from './exchange.ts';

/** The kinds of requests that this client sends. */
export type HttpKind = Exclude<Kind, LastingKind>;

interface Verdict {
  outcome: Outcome;
  reason?: string;
  pod?: string | undefined;
}

const slowMilliseconds = 300;

/**
 * How long the server delays its response to a request of the kind `slow`, in milliseconds. This exceeds the shutdown
 * delay, so that the request is in flight when the server's listening socket closes.
 */
const longMilliseconds = 11_000;

/**
 * One of the 32 pieces in which the client sends an upload. The whole upload is larger than the buffers between client
 * and server.
 */
const piece = Buffer.alloc(64 * 1024, 'x');
const pieces = 32;

/**
 * httpClient returns a client of the given kind. If `slow` is true, the response to a GET is delayed, and the client
 * sends the body of a POST in two pieces.
 */
export function httpClient(target: URL, kind: HttpKind, slow: boolean): Client {
  const agent = !kind.startsWith('new') && new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: () => exchange(target, kind, slow, agent),
    end: () => undefined, // Nothing to do, because every request of this client completes or fails within the time limit.
  };
}

/** `exchange()` sends one request. A POST carries a random ID, which the correct response repeats. */
function exchange(target: URL, kind: HttpKind, slow: boolean, agent: Agent | false): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const order = kind.endsWith('POST') ? randomUUID() : undefined;
  let isConnected = false;
  const request = httpRequest(new URL(pathOf(kind, slow), target), {
    agent,
    method: order || kind === 'upload' ? 'POST' : 'GET',
    headers: { 'Content-Type': order ? 'application/json' : 'application/octet-stream' },
    signal: AbortSignal.timeout(answerLimit),
  });
  const end = (verdict: Verdict, toldToClose: boolean) => {
    resolve({ ...verdict, isNewConnection: !request.reusedSocket, toldToClose, isRequest: true });
  };
  request.once('socket', (socket) => {
    isConnected = !socket.connecting;
    if (!isConnected) socket.once('connect', () => (isConnected = true));
  });
  request.once('error', (error: NodeJS.ErrnoException) => {
    end({ outcome: isConnected ? 'lost' : 'refused', reason: error.code ?? error.message }, false);
  });
  request.once('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('error', () => undefined); // Ignore the error, because `response.complete` shows it too.
    response.once('close', () => {
      end(judge(response, text, kind, order), response.headers.connection === 'close');
    });
  });
  if (kind === 'upload') upload(request, pieces);
  else send(request, order, slow);
  return promise;
}

function pathOf(kind: HttpKind, slow: boolean): string {
  if (kind.endsWith('POST')) return '/orders';
  if (kind === 'upload') return '/upload';
  if (kind === 'slow') return `/slow?ms=${String(longMilliseconds)}`;
  return slow ? `/slow?ms=${String(slowMilliseconds)}` : '/';
}

/** Sends the body of a POST. If `slow` is true, sends the rest of the body 300 ms after its first ten characters. */
function send(request: ClientRequest, order: string | undefined, slow: boolean): void {
  const body = order && JSON.stringify({ id: order });
  if (!body || !slow) {
    request.end(body);
    return;
  }
  request.write(body.slice(0, 10));
  later(request, () => request.end(body.slice(10)), slowMilliseconds);
}

function upload(request: ClientRequest, left: number): void {
  if (left === 0) {
    request.end();
    return;
  }
  request.write(piece);
  later(
    request,
    () => {
      upload(request, left - 1);
    },
    50,
  );
}

function later(request: ClientRequest, act: () => void, milliseconds: number): void {
  const timer = setTimeout(() => {
    request.off('close', cancel);
    act();
  }, milliseconds);
  const cancel = () => {
    clearTimeout(timer);
  };
  request.once('close', cancel);
}

function judge(response: IncomingMessage, text: string, kind: HttpKind, order: string | undefined): Verdict {
  const { complete, statusCode, headers } = response;
  const pod = headers['x-served-by']?.toString();
  if (!complete) return { outcome: 'lost', reason: 'truncated answer', pod };
  if (statusCode === 429 || statusCode === 503) return { outcome: 'refused', reason: String(statusCode), pod };
  if (statusCode !== (order ? 201 : 200)) return { outcome: 'wrong', reason: `status ${String(statusCode)}`, pod };
  if (order && !text.includes(order)) return { outcome: 'wrong', reason: 'not the order that was posted', pod };
  if (kind === 'upload' && text !== JSON.stringify({ bytes: pieces * piece.length }))
    return { outcome: 'wrong', reason: 'not as many bytes as were sent', pod };
  return { outcome: 'answered', pod };
}
