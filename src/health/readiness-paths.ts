// The program's own health paths. They answer 503 from ShutdownInitiated on, for probes and load balancers that use them.
import type { LifecycleSignal } from '../lifecycle/signal.ts';
import type { Answer } from '../message.ts';
import { plain } from './endpoint.ts';

const shuttingDown: Answer = { status: 503, headers: plain, body: 'The server is shutting down.\n' };

/** readinessPaths returns a function that answers GET and HEAD on these paths once the signal has fired. */
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

// The routers of Express and Koa ignore a final slash by default, so a load balancer may probe either form.
function withoutFinalSlash(path: string): string {
  return path.replace(/(.)\/$/, '$1');
}
