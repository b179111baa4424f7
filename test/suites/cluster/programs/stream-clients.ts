// Test clients with long-lived connections. A server may end an event stream, but must not skip an event or cut the
// stream. A server must close a WebSocket with 1001 and with no other code.
import { randomUUID } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { answerLimit, type Client, type Exchange } from './exchange.ts';

const ended = { isNewConnection: true, toldToClose: true, isRequest: false } as const;

/**
 * eventStreamClient returns a client that reconnects with the ID of its last event. The client counts each event stream
 * as one request.
 */
export function eventStreamClient(target: URL): Client {
  let last = 0;
  let request: ClientRequest | undefined;
  let isOver = false;
  const onEvents = (text: string): string | undefined => {
    for (const [, id] of text.matchAll(/^id: (\d+)$/gm)) {
      if (last !== 0 && Number(id) !== last + 1) return `event ${String(id)} arrived after ${String(last)}`;
      last = Number(id);
    }
    return undefined;
  };
  return {
    ask() {
      const { promise, resolve } = Promise.withResolvers<Exchange>();
      isOver = false;
      const headers = { Accept: 'text/event-stream', ...(last > 0 && { 'Last-Event-ID': String(last) }) };
      const current = httpRequest(new URL('/events', target), { agent: false, headers });
      request = current;
      let isConnected = false;
      current.once('socket', (socket) => socket.once('connect', () => (isConnected = true)));
      current.once('error', (error: NodeJS.ErrnoException) => {
        if (isOver) resolve({ ...ended, outcome: 'answered', toldToClose: false });
        else resolve({ ...ended, outcome: isConnected ? 'lost' : 'refused', reason: error.code ?? error.message });
      });
      current.once('response', (response) => {
        follow(response, onEvents, (result) => {
          resolve(isOver ? { ...ended, outcome: 'answered', toldToClose: false } : result);
        });
      });
      current.end();
      return promise;
    },
    end() {
      isOver = true;
      request?.destroy();
    },
  };
}

function follow(
  response: IncomingMessage,
  onEvents: (text: string) => string | undefined,
  end: (result: Exchange) => void,
) {
  const { statusCode, headers } = response;
  const pod = headers['x-served-by']?.toString();
  let rest = '';
  let fault = statusCode === 200 ? undefined : `status ${String(statusCode)}`;
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const whole = (rest + chunk).lastIndexOf('\n\n');
    const text = rest + chunk;
    rest = text.slice(whole + 1);
    fault ??= onEvents(text.slice(0, whole + 1));
  });
  response.on('error', () => undefined); // Ignore the error, because `response.complete` shows it too.
  response.once('close', () => {
    if (!response.complete) end({ ...ended, outcome: 'lost', reason: 'the stream was cut', pod });
    else if (fault !== undefined) end({ ...ended, outcome: 'wrong', reason: fault, pod });
    else end({ ...ended, outcome: 'answered', pod });
  });
}

interface Opened {
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
}

/**
 * webSocketClient returns a client that uses one WebSocket until the server closes it. The client counts each message
 * as one request. A message is answered if the server sends its echo, or closes the WebSocket with 1001.
 */
export function webSocketClient(target: URL): Client {
  let current: Opened | undefined;
  let over = new AbortController();
  const url = target.href.replace(/^http/, 'ws');
  return {
    async ask() {
      over = new AbortController();
      const isNewConnection = current === undefined;
      const result = { isNewConnection, toldToClose: false, isRequest: false };
      current ??= await opened(url);
      if (!current) return { ...result, outcome: 'refused', reason: 'no socket' };
      const sent = randomUUID();
      const came = await echo(current, sent);
      if (typeof came === 'string') {
        const [text, pod] = came.split(' ');
        return text === sent ? { ...result, outcome: 'answered', pod } : { ...result, outcome: 'wrong', reason: came };
      }
      current = undefined;
      if (came === 1001) return { ...result, outcome: 'answered', toldToClose: true };
      return over.signal.aborted
        ? { ...result, outcome: 'answered' }
        : { ...result, outcome: 'lost', reason: `closed with ${String(came)}` };
    },
    end() {
      over.abort();
      current?.socket.close(1000);
    },
  };
}

async function opened(url: string): Promise<Opened | undefined> {
  const socket = new WebSocket(url);
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => {
      resolve(code);
    });
    // Some versions of Node emit no close event for a WebSocket that could not connect.
    socket.addEventListener('error', () => {
      if (socket.readyState !== WebSocket.OPEN) resolve(1006);
    });
  });
  const open = new Promise<Opened>((resolve) => {
    socket.addEventListener('open', () => {
      resolve({ socket, closed });
    });
  });
  return Promise.race([open, closed.then(() => undefined)]);
}

/** Resolves with the echo, or with the code with which the socket was closed. */
async function echo({ socket, closed }: Opened, text: string): Promise<string | number> {
  if (socket.readyState !== WebSocket.OPEN) return closed;
  const limit = setTimeout(() => {
    socket.close(4000);
  }, answerLimit);
  const answer = new Promise<string>((resolve) => {
    const onMessage = ({ data }: MessageEvent) => {
      resolve(String(data));
    };
    socket.addEventListener('message', onMessage, { once: true });
  });
  socket.send(text);
  const came = await Promise.race([answer, closed]);
  clearTimeout(limit);
  return came;
}
