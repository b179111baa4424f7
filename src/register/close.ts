// `server.close()` of a program whose server has been drained for it: as if the server had listened until then.
import type { AddressInfo } from 'node:net';
import type { Lameduck } from '../handle.ts';
import type { Server } from '../http/server.ts';
import { withhold } from './withhold.ts';

type Close = (this: Server, callback?: (error?: Error) => void) => Server;

/** Handle is what a server of Node listens with, as far as it is asked of one that listens no more. */
interface Handle {
  close(): void;
  ref(): void;
  unref(): void;
  getsockname?(out: Partial<AddressInfo>): number;
}

interface Handled {
  _handle: Handle | null;
}

/**
 * closeAfterTheDrain lets a server that the drain has closed look as if it still listened, so that the program closes it in
 * whatever way it does, and gets its callback and its event `close` without an error (P-116). What it closes during the
 * drain is closed when that has ended; what it closes before is its own affair.
 */
export function closeAfterTheDrain(server: Server, { signals, ended }: Lameduck): void {
  // Called below on the server that it was taken from.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const close = server.close as Close;
  let isDraining = false;
  const closeBehind: Close = function (callback) {
    if (!isDraining) return close.call(this, callback);
    void ended.then(() => close.call(this, callback));
    return this;
  };
  server.close = closeBehind as Server['close'];

  void signals.shutdownInitiated.signaled.then(() => {
    if (!server.listening) return;
    isDraining = true;
    const reopen = keepClose(server);
    void ended.then(() => {
      isDraining = false;
      reopen();
    });
  });
}

// Keeps the event `close` of the drain to itself; the returned function puts there what the program can close.
function keepClose(server: Server): () => void {
  const address = server.address();
  const tellAgain = withhold(server, (event) => event === 'close');
  return () => {
    const handled = server as unknown as Handled;
    handled._handle ??= standIn(address, tellAgain);
  };
}

function standIn(address: ReturnType<Server['address']>, close: () => void): Handle {
  const handle: Handle = { close, ref: () => undefined, unref: () => undefined };
  // A path is kept by the server itself.
  if (typeof address !== 'object' || address === null) return handle;
  return {
    ...handle,
    getsockname(out) {
      Object.assign(out, address);
      return 0;
    },
  };
}
