// What a program may say of its requests: functions, which exist in code only, and the paths of long-running requests.
import type { IncomingMessage } from 'node:http';
import { messageOf } from '../../errors.ts';
import { given, identifiersOf, type Request } from '../../message.ts';

/** RequestFunctions is what a program may say of its requests. */
export interface RequestFunctions {
  /**
   * Tells whether a request is long-running; event streams and upgraded sockets are recognized without it. A stream of
   * HTTP/2 has here its method, url, headers, httpVersion, socket and stream, and nothing else of a request.
   */
  readonly longRunning?: ((request: IncomingMessage) => boolean | undefined) | undefined;
  /** The route of a request, as it is to stand in the log and in metrics; its path unless given. */
  readonly route?: ((request: IncomingMessage) => string | undefined) | undefined;
}

/** Asked is the same functions, asked of a request of any protocol. */
export interface Asked {
  readonly longRunning: ((request: Request) => boolean | undefined) | undefined;
  readonly route: ((request: Request) => string | undefined) | undefined;
}

/**
 * guarded returns functions that cannot break the request which they are asked about: one that throws has said nothing,
 * and is warned of once.
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
      // A stream of HTTP/2 has what such a function reads when a request arrives: method, URL, headers and socket. Later it
      // may look for what the program has put on the request that it was given.
      return ask((request[given] ?? request) as IncomingMessage);
    } catch (error) {
      const message = `${name} has thrown, which counts as if it had said nothing: ${messageOf(error)}`;
      if (!hasFailed) warn(message, identifiersOf(request));
      hasFailed = true;
      return undefined;
    }
  };
}
