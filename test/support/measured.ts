// Starts a server with a lifecycle that serves its metrics at /metrics, and requests these metrics.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as request, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Parts } from '../../src/parts.ts';
import type { Response } from './closed-loop-client.ts';
import { Exposition } from './exposition.ts';
import { serve, type Client, type Scope, type ServeOptions, type Serving } from './serving.ts';
import { until } from './until.ts';

/**
 * Responds by path: /404 with the status 404, /stream in two parts, /events with an event stream, /hang never. Any
 * other path gets a response at once.
 */
const listener: RequestListener = (incoming, response) => {
  switch (incoming.url) {
    case '/hang':
      return;
    case '/404':
      response.statusCode = 404;
      response.end('none\n');
      return;
    case '/stream':
      response.write('first\n');
      setImmediate(() => response.end('last\n'));
      return;
    case '/half':
      response.write('first\n');
      return;
    case '/events':
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
      return;
    case '/later':
      setImmediate(() => response.end('later\n'));
      return;
    default:
      response.end('served\n');
  }
};

/** Measured describes a running server, and has functions with which a test can scrape its metrics. */
export interface Measured extends Serving {
  readonly requests: ServerResponse[];
  scrape(path?: string): Promise<Exposition>;
}

/** `measure()` starts a server that serves its metrics at /metrics. */
export async function measure(scope: Scope, options: Partial<ServeOptions> = {}): Promise<Measured> {
  const requests: ServerResponse[] = [];
  const serving = await serve(scope, {
    metricsPath: '/metrics',
    listener(incoming, response) {
      requests.push(response);
      listener(incoming, response);
    },
    ...options,
  });
  return {
    ...serving,
    requests,
    async scrape(path = '/metrics') {
      const { status, body } = await ask(serving.port, path);
      assert.equal(status, 200);
      return new Exposition(body);
    },
  };
}

/** `ask()` sends a request on its own connection. */
export async function ask(port: number, path: string): Promise<{ status: number | undefined; body: string }> {
  const [response] = (await once(request({ port, host: '127.0.0.1', path, agent: false }), 'response')) as [
    IncomingMessage,
  ];
  return { status: response.statusCode, body: (await response.toArray()).join('') };
}

/** `next()` returns the next response on a connection, and fails if there is none. */
export async function next({ reader }: Client): Promise<Response> {
  const response = await reader.next();
  assert.ok(response);
  return response;
}

/** `quiet()` resolves when no request is in flight. */
export const quiet = ({ traffic }: Pick<Parts, 'traffic'>): Promise<void> =>
  until(() => traffic.requests.inFlight.serving === 0);
