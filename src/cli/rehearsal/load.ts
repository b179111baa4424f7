// The definition of a load: the kinds of clients, their requests, and the counts of these requests. No side effects.

/** clientKinds lists all kinds of clients, in the order in which the reports of a rehearsal name them. */
export const clientKinds = [
  'newConnection',
  'keptConnection',
  'retryingConnection',
  'longPoll',
  'eventStream',
  'upload',
  'webSocket',
  'http2',
] as const;

/** ClientKind names a kind of client by how it uses the server. */
export type ClientKind = (typeof clientKinds)[number];

/** LoadOptions say which clients run and what they send. */
export interface LoadOptions {
  /** `rate` is the number of requests per second on new and keep-alive connections together. */
  readonly rate: number;
  /** `connections` is the number of keep-alive connections. */
  readonly connections: number;
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  /** `retry` is true if the rehearsal also runs clients that retry a failed request. */
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

/** noOptionalClients has the settings of a rehearsal without the clients that options add, such as event streams. */
export const noOptionalClients = {
  retry: false,
  longPoll: undefined,
  stream: undefined,
  upload: undefined,
  webSocket: undefined,
  http2: undefined,
} as const;

// The maximum number of requests per second that one client thread sends. A thread can send about 5 000 requests per
// second, so this maximum is lower.
const mostPerThread = 4_000;

/**
 * dividePlan divides the load of a rehearsal between client threads, and returns one plan for each thread. Only the
 * first plan has the clients whose requests do not count towards `rate`, such as event streams.
 */
export function dividePlan(plan: LoadPlan): LoadPlan[] {
  const threads = Math.max(1, Math.min(Math.ceil(plan.rate / mostPerThread), plan.connections));
  return Array.from({ length: threads }, (_, index) => ({
    ...plan,
    ...(index > 0 && noOptionalClients),
    rate: plan.rate / threads,
    connections: Math.floor((plan.connections + index) / threads),
    seed: plan.seed + index,
  }));
}

/** Tally contains, for one kind of client, how many requests were sent and how they ended. */
export interface Tally {
  sent: number;
  answered: number;
  lost: number;
  refused: number;
  /**
   * `failed` counts complete responses whose status is 500 or more, except 503. A response with 503 is counted in
   * `refused`.
   */
  failed: number;
}

/** upgradeFailed is the reason of a WebSocket client whose connection was not accepted or not upgraded. */
export const upgradeFailed = 'the upgrade failed';

/** Loss is one request of a client that was lost or refused. */
export interface Loss {
  readonly client: ClientKind;
  readonly outcome: 'lost' | 'refused';
  readonly why: string;
  /**
   * afterMs is the time, in milliseconds, from the sending of a request until the client noticed that the request was
   * lost or refused.
   */
  readonly afterMs: number;
  /** isUnanswered is true if the connection was accepted, but ended before the response to the request began. */
  readonly isUnanswered?: boolean | undefined;
}

/** newTallies returns a tally of zeros for each kind of client. */
export function newTallies(): Record<ClientKind, Tally> {
  const none = (): Tally => ({ sent: 0, answered: 0, lost: 0, refused: 0, failed: 0 });
  return Object.fromEntries(clientKinds.map((kind) => [kind, none()])) as Record<ClientKind, Tally>;
}
