// The messages between the main thread of the rehearsal and its client thread.
import type { Destination } from '../endpoints.ts';

/** ClientKind names a kind of client by how it uses the server. */
export type ClientKind =
  | 'newConnection'
  | 'keptConnection'
  | 'retryingConnection'
  | 'longPoll'
  | 'eventStream'
  | 'upload'
  | 'webSocket'
  | 'http2';

/** clientKinds lists all kinds of clients, in the order of the reports. */
export const clientKinds: readonly ClientKind[] = [
  'newConnection',
  'keptConnection',
  'retryingConnection',
  'longPoll',
  'eventStream',
  'upload',
  'webSocket',
  'http2',
];

/** LoadOptions say which clients run and what they send. */
export interface LoadOptions {
  /** `rate` is the number of requests per second on new and keep-alive connections together. */
  readonly rate: number;
  /** `connections` is the number of keep-alive connections. */
  readonly connections: number;
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  /** `retry` is true if the load also has clients that retry a failed request. */
  readonly retry: boolean;
  readonly longPoll: string | undefined;
  readonly stream: string | undefined;
  readonly upload: string | undefined;
  readonly webSocket: string | undefined;
  readonly http2: string | undefined;
  readonly seed: number;
}

/** LoadPlan is the load for one server. */
export interface LoadPlan extends LoadOptions {
  readonly host: string;
  readonly port: number;
}

/** Tally counts the requests of one kind of client. */
export interface Tally {
  sent: number;
  answered: number;
  lost: number;
  refused: number;
  /** `failed` counts complete responses with a status of 500 or more, except 503. */
  failed: number;
}

/** Loss is one request that was lost or refused. */
export interface Loss {
  readonly client: ClientKind;
  readonly outcome: 'lost' | 'refused';
  readonly why: string;
  /** afterMs is the time from the sending of the request to its loss, in milliseconds. */
  readonly afterMs: number;
}

/** ToThread is a message to the client thread. */
export type ToThread =
  | { readonly kind: 'start'; readonly plan: LoadPlan }
  /** `routes`: the destination to which each simulated node sends new connections after this message. */
  | { readonly kind: 'routes'; readonly routes: readonly Destination[] }
  /** `stop`: send no new requests. The thread reports `stopped` when all requests in flight have ended. */
  | { readonly kind: 'stop' };

/** FromThread is a message from the client thread. */
export type FromThread =
  | {
      readonly kind: 'report';
      readonly tallies: Readonly<Record<ClientKind, Tally>>;
      readonly losses: readonly Loss[];
      readonly inFlight: number;
      /** loopDelayMs is the longest event loop delay of the client thread since the last report, in milliseconds. */
      readonly loopDelayMs: number;
    }
  | { readonly kind: 'stopped' };

/** newTallies returns a tally of zeros for each kind of client. */
export function newTallies(): Record<ClientKind, Tally> {
  const none = (): Tally => ({ sent: 0, answered: 0, lost: 0, refused: 0, failed: 0 });
  return Object.fromEntries(clientKinds.map((kind) => [kind, none()])) as Record<ClientKind, Tally>;
}
