// The upstream of the service, reached through a connection pool. Without an address, the service starts a small
// upstream itself, so that it runs on any machine.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

// Milliseconds after which a request to the upstream fails. This time limit is shorter than `healthCheckTimeout`, so
// that the request of a health check never lasts longer than the check.
const patience = 800;

export interface Upstream {
  readonly pool: Pool;
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

export async function connectUpstream(url: string | undefined): Promise<Upstream> {
  const server = url === undefined ? await startUpstream() : undefined;
  const pool = new Pool(new URL(url ?? `http://127.0.0.1:${String((server?.address() as AddressInfo).port)}`).origin);
  return {
    pool,
    async isReachable() {
      const { statusCode, body } = await pool.request({
        path: '/',
        method: 'GET',
        signal: AbortSignal.timeout(patience),
      });
      await body.dump();
      return statusCode < 500;
    },
    async close() {
      await pool.close();
      server?.close();
    },
  };
}

async function startUpstream(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end('{"stock":42}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
