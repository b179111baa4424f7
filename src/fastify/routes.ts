// Reads what only Fastify's router knows: which routes are long-running, and to which route each request belongs.
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { LameduckError, quoted } from '../errors.ts';
import type { Traffic } from '../http/traffic.ts';
import { keyOf } from '../message.ts';

/** LameduckRouteConfig is the type of a route's `config.lameduck`. */
export interface LameduckRouteConfig {
  /**
   * longRunning is true if requests of this route are long-running, such as watches. The drain ends long-running
   * requests instead of waiting for them. The default is false.
   */
  readonly longRunning?: boolean | undefined;
}

type OnRequest = (request: FastifyRequest, reply: unknown, done: () => void) => void;

const label = Symbol('lameduck.route');

/**
 * routeOf returns the route pattern of a request, such as `/orders/:id`. It returns undefined if no route matched
 * (404), or if `readRoutes` was called with `isNoted` false.
 */
export function routeOf(request: IncomingMessage): string | undefined {
  return (keyOf(request) as { [label]?: string })[label];
}

/**
 * readRoutes reads `config.lameduck` of each route and marks the requests of long-running routes (P-033). If `isNoted`
 * is true, it also records the route of each request for `routeOf`. Adding a route with an invalid config throws
 * LAMEDUCK_ERR_ROUTE_INVALID.
 */
export function readRoutes(app: FastifyInstance, traffic: Traffic, isNoted: boolean): void {
  const mark: OnRequest = (request, _reply, done) => {
    traffic.requests.markLongRunning(request.raw);
    done();
  };
  const note: OnRequest = (request, _reply, done) => {
    const { url, config } = request.routeOptions;
    if (url !== undefined) {
      (keyOf(request.raw) as { [label]?: string })[label] = url;
      if (config.lameduck?.longRunning === true) traffic.requests.markLongRunning(request.raw);
    }
    done();
  };
  // Fastify calls the hook `onRoute` only for a route that is added after the hook. If there may be older routes, add
  // the hook `onRequest` instead, which reads the options of the route at each request.
  const isForAll = isNoted || hasRoutes(app);
  if (isForAll) app.addHook('onRequest', note);
  app.addHook('onRoute', (route) => {
    if (readConfig(route).longRunning !== true || isForAll) return;
    const hooks: unknown = [mark, route.onRequest ?? []].flat();
    route.onRequest = hooks as NonNullable<RouteOptions['onRequest']>;
  });
}

function hasRoutes(app: FastifyInstance): boolean {
  return app.printRoutes() !== '(empty tree)';
}

function readConfig({ method, url, config }: RouteOptions): LameduckRouteConfig {
  const given: unknown = config?.lameduck;
  if (given === undefined) return {};
  if (isRouteConfig(given)) return given;
  const route = `${[method].flat().join(', ')} ${url}`;
  throw new LameduckError(
    'LAMEDUCK_ERR_ROUTE_INVALID',
    `config.lameduck of ${route}: ${quoted(given)}: expected an object with longRunning, which is true or false`,
  );
}

function isRouteConfig(given: unknown): given is LameduckRouteConfig {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  const { longRunning } = given as { longRunning?: unknown };
  const isKnown = Object.keys(given).every((name) => name === 'longRunning');
  return isKnown && (longRunning === undefined || typeof longRunning === 'boolean');
}
