// Simplified copies of single steps that lameduck takes for each request, so that the benchmark can measure the CPU
// time of each step alone. Only the benchmark uses these copies.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { lameduck } from '../../src/index.ts';
import type { Install } from '../implementations.ts';

/** Part is one row of the table that explains how much CPU time lameduck adds to a request. */
export interface Part {
  readonly title: string;
  readonly install: Install;
}

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;

const record = Symbol('record');
type Recorded = Record<typeof record, { at: number } | undefined>;

// Replaces the `emit` of a server as lameduck does, and calls `onRequest` before the program gets a request.
function replaceEmit(server: Server, onRequest?: OnRequest): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...args: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...args: unknown[]) => {
    if (event === 'connection') (args[0] as Recorded)[record] = { at: 0 };
    if (event === 'request') onRequest?.(args[0] as IncomingMessage, args[1] as ServerResponse);
    return emit(event, ...args);
  };
}

const find = ({ socket }: IncomingMessage): { at: number } | undefined => (socket as unknown as Recorded)[record];

/**
 * `parts` has the parts of lameduck's code for a request whose CPU time the benchmark measures. A server with one part
 * is measured in the same way as a server with a whole shutdown package.
 */
export const parts: Readonly<Record<string, Part>> = {
  emit: {
    title: '`emit` of the server is replaced by a function that calls the original `emit`',
    install: (server) => {
      replaceEmit(server);
    },
  },
  record: {
    title: '`emit` is replaced, and each request finds the record of its connection and compares its path',
    install: (server) => {
      const paths = new Set(['/readyz', '/livez', '/healthz']);
      replaceEmit(server, (request) => {
        if (find(request) === undefined || paths.has(request.url ?? '')) throw new Error('unexpected');
      });
    },
  },
  clock: {
    title:
      '`emit` is replaced, each request finds the record of its connection, and the record stores the time of the request',
    install: (server) => {
      replaceEmit(server, (request) => {
        const found = find(request);
        if (found !== undefined) found.at = performance.now();
      });
    },
  },
  lameduck: {
    title: '`lameduck(server)`',
    install: (server) => lameduck(server, { shutdownDelayDuration: 0 }),
  },
  'close listener': {
    title: 'a `close` listener on each response, and nothing else',
    install: (server) => {
      const onClose = (): void => undefined;
      server.on('request', (_request, response) => {
        response.on('close', onClose);
      });
    },
  },
  'with metrics': {
    title: '`lameduck(server)` with metrics and a route label',
    install: (server) => lameduck(server, { shutdownDelayDuration: 0, metricsPath: '/metrics', route: () => '/' }),
  },
};
