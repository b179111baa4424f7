// Gives `localhost` two addresses on any machine. Fastify then listens on both, with one server for each.
import dns from 'node:dns';
import { setTimeout as pause } from 'node:timers/promises';

/** The IP addresses to which the name `localhost` resolves after a call of `patchLocalhost()`. */
export const localhost = ['127.0.0.1', '127.0.0.2'] as const;

interface Lookups {
  lookup(name: string, options: object, callback: (error: null, addresses: object[]) => void): void;
}

/**
 * patchLocalhost replaces `dns.lookup()` for `localhost` with the option `all`, and returns a function that restores
 * it. Each of these lookups takes `milliseconds`.
 */
export function patchLocalhost(milliseconds = 0): () => void {
  const lookups = dns as unknown as Lookups;
  // The function is called with `dns` as its `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { lookup } = lookups;
  lookups.lookup = (name, options, callback) => {
    if (name !== 'localhost' || !('all' in options)) {
      lookup.call(dns, name, options, callback);
      return;
    }
    void pause(milliseconds).then(() => {
      callback(
        null,
        localhost.map((address) => ({ address, family: 4 })),
      );
    });
  };
  return () => {
    lookups.lookup = lookup;
  };
}
