// A `localhost` with two addresses, on any machine: Fastify listens on each, with a server of its own.
import dns from 'node:dns';
import { setTimeout as pause } from 'node:timers/promises';

/** localhost is the addresses that `localhost` has. */
export const localhost = ['127.0.0.1', '127.0.0.2'] as const;

interface Lookups {
  lookup(name: string, options: object, callback: (error: null, addresses: object[]) => void): void;
}

/** patchLocalhost patches the lookup of all addresses, and returns what undoes it. Each takes that many milliseconds. */
export function patchLocalhost(milliseconds = 0): () => void {
  const lookups = dns as unknown as Lookups;
  // Called below as it would have been.
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
