// If the program wants to listen on the port that lameduck uses as its default probe port, closes the probe port.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ListenOptions, Server } from 'node:net';
import { withhold } from './withhold.ts';

interface ListenError extends Error {
  readonly code?: string;
  readonly port?: number;
}

const channels = { start: 'tracing:net.server.listen:asyncStart', error: 'tracing:net.server.listen:error' };

/**
 * If a server of the program cannot listen on `port` because lameduck's probe port uses it, giveWay calls `release`,
 * which closes the probe port. giveWay then calls the server's `listen()` again, so the program sees no error. giveWay
 * calls `release` at most once. It returns a function that cancels giveWay.
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
    // A failed `listen()` emits the event `error` in the next tick. Hide this event from the program, because lameduck
    // calls `listen()` again when the probe port is closed.
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
