import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pool } from '../pool.mjs';

interface Route {
  readonly after: number;
  readonly text: string;
}

const routes: Readonly<Record<string, Route>> = {
  '/': { after: 0, text: 'hello' },
  '/slow': { after: 200, text: 'slow' },
};

const server = createServer((request: IncomingMessage, response: ServerResponse): void => {
  const route = routes[request.url ?? ''];
  if (route === undefined) response.writeHead(404).end();
  else if (route.after === 0) response.end(route.text);
  else setTimeout(() => response.end(route.text), route.after);
});

server.listen(process.env.PORT ?? 3000);

// The program never calls process.exit(). It sets an exit code, and the process ends with this code when the event loop
// is empty.
process.once('SIGTERM', () => {
  server.close((error?: Error) => {
    process.exitCode = error === undefined ? 3 : 1;
    void pool.end();
  });
});
