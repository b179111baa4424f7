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
  const all = new Set(paths);
  return (url, method) => {
    if (!shutdownInitiated.hasSignaled || (method !== 'GET' && method !== 'HEAD')) return undefined;
    return all.has(url.split('?', 1)[0] as string) ? shuttingDown : undefined;
  };
}
