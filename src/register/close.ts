// `server.close()` of a program whose server has been drained for it: as if the server had served until now.
import type { Lameduck } from '../handle.ts';
import type { Server } from '../http/server.ts';

type Close = (this: Server, callback?: (error?: Error) => void) => Server;
type Emit = (this: Server, event: string | symbol, ...args: unknown[]) => boolean;

/**
 * closeWithTheDrain lets `server.close()` during or after the drain end with it, without an error (P-116), and keeps the
 * event `close` until the program has called it. What the program closes before is its own affair.
 */
export function closeWithTheDrain(server: Server, { signals, ended }: Lameduck): void {
  // Called below on the server that they were taken from.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const close = server.close as Close;
  let isClosed = false;
  let tellClosed: (() => void) | undefined;

  const closeOwn: Close = function (callback) {
    if (isClosed || tellClosed === undefined) {
      isClosed = true;
      return close.call(this, callback);
    }
    isClosed = true;
    if (callback !== undefined) this.once('close', callback);
    void ended.then(tellClosed);
    return this;
  };
  server.close = closeOwn as Server['close'];

  void signals.shutdownInitiated.signaled.then(() => {
    if (isClosed) return;
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const emit = server.emit as Emit;
    const emitOthers: Emit = function (event, ...args) {
      return event === 'close' ? false : emit.call(this, event, ...args);
    };
    server.emit = emitOthers as Server['emit'];
    tellClosed = () => {
      server.emit = emit as Server['emit'];
      server.emit('close');
    };
  });
}
