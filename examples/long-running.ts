// An event stream and a long poll on bare node:http. During a shutdown, the clients of the event stream and of the long
// poll move to another replica without an error. A POST publishes an item.
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { lameduck } from 'lameduck';

const news = new EventEmitter().setMaxListeners(0);

const server = createServer((request, response) => {
  if (request.method === 'POST') void publish(request, response);
  else if (request.url === '/events') stream(response);
  else if (request.url === '/poll') void poll(request, response);
  else response.writeHead(404).end();
});

// lameduck recognizes an event stream by its content type. A long poll must be named by `longRunning`.
const duck = lameduck(server, { longRunning: ({ url }) => url === '/poll' });

// The handler does not know about the shutdown. lameduck ends the stream after a complete event, and the client
// reconnects on its own.
function stream(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  response.flushHeaders();
  const send = (item: string): void => void response.write(`data: ${JSON.stringify(item)}\n\n`);
  news.on('item', send);
  response.on('close', () => news.off('item', send));
}

// The long poll responds with the next item. It responds without an item after half a minute, or when the drain ends it.
// If the client has closed the connection, the response is discarded.
async function poll(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const signal = AbortSignal.any([duck.abortSignal(request), AbortSignal.timeout(30_000)]);
  try {
    const [item] = (await once(news, 'item', { signal })) as [string];
    response.end(item);
  } catch {
    response.writeHead(204).end();
  }
}

async function publish(request: IncomingMessage, response: ServerResponse): Promise<void> {
  news.emit('item', await text(request));
  response.writeHead(202).end();
}

server.listen(Number(process.env['PORT'] ?? 8080), () => {
  console.log(`kill -TERM ${String(process.pid)}`);
});
