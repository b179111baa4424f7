// How a program classifies its requests: by functions, which exist in code only, and by the paths of long-running requests.
import type { IncomingMessage } from 'node:http';
import { messageOf } from '../../errors.ts';
import { given, identifiersOf, type Request } from '../../message.ts';

/** RequestFunctions are the functions by which a program classifies its requests. */
export interface RequestFunctions {
  /**
   * Returns true for a long-running request. lameduck recognizes event streams and upgraded sockets on its own. For a request on
   * HTTP/2, only `method`, `url`, `headers`, `httpVersion`, `socket` and `stream` are set.
   */
  readonly longRunning?: ((request: IncomingMessage) => boolean | undefined) | undefined;
  /** Returns the route of a request for the log and the metrics. Without a route, the log has the path. */
  readonly route?: ((request: IncomingMessage) => string | undefined) | undefined;
}

/** The same functions for a request of any protocol. */
export interface Asked {
  readonly longRunning: ((request: Request) => boolean | undefined) | undefined;
  readonly route: ((request: Request) => string | undefined) | undefined;
}

/**
 * guarded returns functions whose errors do not break the request. If a function throws, the result is undefined, and the
 * first error of each function causes a warning.
 */
export function guarded(
  { longRunning, route }: RequestFunctions,
  warn: (message: string, details: object) => void,
): Asked {
  return {
    longRunning: longRunning && guard('longRunning', longRunning, warn),
    route: route && guard('route', route, warn),
  };
}

/**
 * withPaths returns the functions with a `longRunning` that also names each request to one of these paths, or below one of
 * them. The apiserver recognizes its profiling requests by their path in the same way.
 */
export function withPaths(asked: Asked, paths: readonly string[]): Asked {
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
): (request: Request) => Result | undefined {
  let hasFailed = false;
  return (request) => {
    try {
      // Prefer the request object that the program was given, which may have the program's own properties. When a request on
      // HTTP/2 arrives, that object does not exist yet.
      return ask((request[given] ?? request) as IncomingMessage);
    } catch (error) {
      const message = `${name} has thrown, which counts as if it had said nothing: ${messageOf(error)}`;
      if (!hasFailed) warn(message, identifiersOf(request));
      hasFailed = true;
      return undefined;
    }
  };
}
