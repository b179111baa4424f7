// Determines which requests are long-running, and the route of each request, with the program's functions and the
// configured paths.
import type { IncomingMessage } from 'node:http';
import { messageOf } from '../../errors.ts';
import { given, identifiersOf, type HttpRequest } from '../../message.ts';

/** RequestFunctions are the functions with which a program classifies its requests. */
export interface RequestFunctions {
  /**
   * longRunning returns true for a long-running request, which the drain ends instead of waiting for it. lameduck
   * recognizes event streams and upgraded sockets on its own. For an HTTP/2 request, only `method`, `url`, `headers`,
   * `httpVersion`, `socket` and `stream` are set.
   */
  readonly longRunning?: ((request: IncomingMessage) => boolean | undefined) | undefined;
  /**
   * `route()` returns the route of a request, such as `/orders/:id`, for the log and the metrics. If it returns
   * undefined, the log contains the path of the request.
   */
  readonly route?: ((request: IncomingMessage) => string | undefined) | undefined;
}

/**
 * Classifiers contains the functions with which the program classifies requests: `longRunning` and `route`. They
 * receive requests of any protocol.
 */
export interface Classifiers {
  readonly longRunning: ((request: HttpRequest) => boolean | undefined) | undefined;
  readonly route: ((request: HttpRequest) => string | undefined) | undefined;
}

/**
 * `guarded()` wraps the program's functions `longRunning` and `route`, so that a request does not fail if one of them
 * throws. The wrapper returns undefined when the function throws. Only the first error of each function causes a
 * warning in the log.
 */
export function guarded(
  { longRunning, route }: RequestFunctions,
  warn: (message: string, details: object) => void,
): Classifiers {
  return {
    longRunning: longRunning && guard('longRunning', longRunning, warn),
    route: route && guard('route', route, warn),
  };
}

/**
 * withPaths adds the configured paths to `longRunning`. A request for one of these paths, or for a path below one of
 * them, is long-running. The apiserver recognizes its profiling requests in the same way.
 */
export function withPaths(asked: Classifiers, paths: readonly string[]): Classifiers {
  if (paths.length === 0) return asked;
  const folders = paths.map((path) => path.replace(/\/*$/, '/'));
  const { longRunning } = asked;
  return {
    ...asked,
    longRunning(request) {
      const path = `${request.url?.split('?', 1)[0] ?? ''}/`;
      return folders.some((folder) => path.startsWith(folder)) || longRunning?.(request);
    },
  };
}

function guard<Result>(
  name: string,
  ask: (request: IncomingMessage) => Result,
  warn: (message: string, details: object) => void,
): (request: HttpRequest) => Result | undefined {
  let hasFailed = false;
  return (request) => {
    try {
      // Pass the request object that the program received, because the program may have set properties on it. For an
      // HTTP/2 request that the program has not received yet, pass lameduck's own object.
      return ask((request[given] ?? request) as IncomingMessage);
    } catch (error) {
      const message = `the function ${name} threw an error, so its result is undefined: ${messageOf(error)}`;
      if (!hasFailed) warn(message, identifiersOf(request));
      hasFailed = true;
      return undefined;
    }
  };
}
