// Releases the default probe port if the program itself wants to listen on that port.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ListenOptions, Server } from 'node:net';
import { withhold } from './withhold.ts';

interface ListenError extends Error {
  readonly code?: string;
  readonly port?: number;
}

const channels = { start: 'tracing:net.server.listen:asyncStart', error: 'tracing:net.server.listen:error' };

/**
 * giveWay handles the case that a server of the program cannot listen on `port` because the probe port uses it. giveWay
 * then calls `release` and makes the server listen again. The program sees no error. giveWay releases the port at most
 * once. The returned function makes giveWay do nothing from then on.
 */
export function giveWay(port: number, release: () => Promise<void>): () => void {
  const asked = new WeakMap<Server, ListenOptions>();
  const onStart = (message: unknown): void => {
    const { server, options } = message as { readonly server: Server; readonly options: ListenOptions };
    asked.set(server, options);
  };
  const onError = (message: unknown): void => {
    const { server, error } = message as { readonly server: Server; readonly error: ListenError };
    const options = asked.get(server);
    if (error.code !== 'EADDRINUSE' || error.port !== port || options === undefined) return;
    stop();
    // Node emits an error of `listen()` in the next tick. Suppress this error.
    const stopWithholding = withhold(server, (event, [thrown]) => event === 'error' && thrown === error);
    void release().then(() => {
      stopWithholding();
      server.listen(options);
    });
  };
  const stop = (): void => {
    unsubscribe(channels.start, onStart);
    unsubscribe(channels.error, onError);
  };
  subscribe(channels.start, onStart);
  subscribe(channels.error, onError);
  return stop;
}
