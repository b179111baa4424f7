// The messages between the main thread of a rehearsal and the thread that runs the clients of the rehearsal.
import type { Destination } from '../endpoints.ts';
import type { ClientKind, LoadPlan, Loss, Tally } from '../load.ts';

/** ToThread is a message to the client thread. */
export type ToThread =
  | { readonly kind: 'start'; readonly plan: LoadPlan }
  /**
   * `routes` contains, for each simulated node, the destination of the new connections that the node sends from now on.
   */
  | { readonly kind: 'routes'; readonly routes: readonly Destination[] }
  /** `host`: connect to this address from now on. */
  | { readonly kind: 'host'; readonly host: string }
  /** `stop`: send no new requests. The thread reports `stopped` when all requests in flight have ended. */
  | { readonly kind: 'stop' };

/** FromThread is a message from the client thread. */
export type FromThread =
  | {
      readonly kind: 'report';
      readonly tallies: Readonly<Record<ClientKind, Tally>>;
      readonly losses: readonly Loss[];
      readonly inFlight: number;
      /**
       * loopDelayMs is the longest event loop delay of the client thread since its previous report, in milliseconds.
       */
      readonly loopDelayMs: number;
    }
  | { readonly kind: 'stopped' };
