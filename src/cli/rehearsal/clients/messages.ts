// The messages between the rehearsal and the thread of its clients.
import type { Destination } from '../endpoints.ts';

/** ClientKind is a way in which clients use a server. */
export type ClientKind =
  | 'newConnection'
  | 'keptConnection'
  | 'retryingConnection'
  | 'longPoll'
  | 'eventStream'
  | 'upload'
  | 'webSocket'
  | 'http2';

/** clientKinds are all kinds, in the order of the reports. */
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

/** LoadPlan is which clients there are. */
export interface LoadPlan {
  readonly host: string;
  readonly port: number;
  /** Requests per second of the first two kinds together. */
  readonly rate: number;
  /** How many connections are kept. */
  readonly connections: number;
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  /** Whether there are also clients that repeat a request. */
  readonly retry: boolean;
  readonly longPoll: string | undefined;
  readonly stream: string | undefined;
  readonly upload: string | undefined;
  readonly webSocket: string | undefined;
  readonly http2: string | undefined;
  readonly seed: number;
}

/** Tally counts the requests of one kind. */
export interface Tally {
  sent: number;
  answered: number;
  lost: number;
  refused: number;
  /** Whole responses with a status of 500 or above that is not a refusal. */
  failed: number;
}

/** Loss is one request that was lost or refused. */
export interface Loss {
  readonly client: ClientKind;
  readonly outcome: 'lost' | 'refused';
  readonly why: string;
  /** Milliseconds between the request and its loss. */
  readonly afterMs: number;
}

/** ToThread is a message to the clients. */
export type ToThread =
  | { readonly kind: 'start'; readonly plan: LoadPlan }
  /** Where each node sends new connections from now on. */
  | { readonly kind: 'routes'; readonly routes: readonly Destination[] }
  /** No new requests; the thread reports `stopped` when those in flight have ended. */
  | { readonly kind: 'stop' };

/** FromThread is a message of the clients. */
export type FromThread =
  | {
      readonly kind: 'report';
      readonly tallies: Readonly<Record<ClientKind, Tally>>;
      readonly losses: readonly Loss[];
      readonly inFlight: number;
      /** The longest delay of the thread's event loop since the last report, in milliseconds. */
      readonly loopDelayMs: number;
    }
  | { readonly kind: 'stopped' };

/** newTallies returns a tally of zeros for each kind. */
export function newTallies(): Record<ClientKind, Tally> {
  const none = (): Tally => ({ sent: 0, answered: 0, lost: 0, refused: 0, failed: 0 });
  return Object.fromEntries(clientKinds.map((kind) => [kind, none()])) as Record<ClientKind, Tally>;
}
