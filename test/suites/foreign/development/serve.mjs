import { once } from 'node:events';
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

// Starts a server, sends it one request, closes it, and returns the response body, as a typical test of a server does.
export async function serve() {
  const server = createServer((request, response) => response.end('hello'));
  const duck = lameduck(server);
  server.listen(0, '127.0.0.1');
  await duck.signals.hasBeenReady.signaled;
  const response = await fetch(`http://127.0.0.1:${server.address().port}`, { headers: { connection: 'close' } });
  const text = await response.text();
  server.close();
  await once(server, 'close');
  return text;
}
