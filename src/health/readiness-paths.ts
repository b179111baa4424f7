// The program's own health paths, which probes or load balancers may use. From ShutdownInitiated on, lameduck answers
// requests for these paths with 503.
import type { LifecycleSignal } from '../lifecycle/signal.ts';
import type { Answer } from '../message.ts';
import { plain } from './endpoint.ts';

const shuttingDown: Answer = { status: 503, headers: plain, body: 'The server is shutting down.\n' };

/**
 * readinessPaths returns a function that responds to requests for the program's own health paths. After
 * ShutdownInitiated, the function returns a 503 for GET and HEAD requests. Before ShutdownInitiated, and for any other
 * request, it returns undefined, so that the program responds.
 */
export function readinessPaths(
  paths: readonly string[],
  shutdownInitiated: Pick<LifecycleSignal, 'hasSignaled'>,
): (url: string, method: string) => Answer | undefined {
  const all = new Set(paths.map(withoutFinalSlash));
  return (url, method) => {
    if (!shutdownInitiated.hasSignaled || (method !== 'GET' && method !== 'HEAD')) return undefined;
    return all.has(withoutFinalSlash(url.split('?', 1)[0] as string)) ? shuttingDown : undefined;
  };
}

// Removes a slash at the end of a path. The routers of Express and Koa ignore such a slash by default, so a load
// balancer may probe `/health/` instead of `/health`.
function withoutFinalSlash(path: string): string {
  return path.replace(/(.)\/$/, '$1');
}
