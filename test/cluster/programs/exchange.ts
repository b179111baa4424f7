// The types that all clients of the load share: their requests, their results, and their output.

/** The kind of request that a client sends, and whether it keeps its connection. */
export type Kind = 'kept GET' | 'kept POST' | 'new GET' | 'new POST' | 'upload' | 'slow' | LastingKind;
export type LastingKind = 'HTTP/2' | 'event stream' | 'WebSocket';

/** Some clients of a kind: the row of the account that they share, and the milliseconds that each rests between requests. */
export interface Job {
  readonly name: string;
  readonly kind: Kind;
  readonly url: string;
  readonly clients: number;
  readonly rest: number;
}

/**
 * How an exchange ended. *Lost*: sent on an accepted connection that had not announced its end, and not answered
 * completely. *Refused*: the connect failed, the whole answer is a 429 or 503, or HTTP/2 calls it one to be repeated.
 * *Wrong*: any other answer.
 */
export type Outcome = 'answered' | 'lost' | 'refused' | 'wrong';

/** The counts of all clients of one row, and the longest time that one exchange took. */
export type Tally = Record<Outcome | 'requests' | 'connections' | 'toldToClose' | 'slowestMilliseconds', number>;

/** A line of the output. */
export type Line =
  | { type: 'started' }
  | { type: 'second'; at: number; tallies: Record<string, Tally>; pods: Record<string, PodSecond> }
  | { type: 'failure'; at: number; name: string; outcome: Outcome; reason: string; pod: string }
  | { type: 'summary'; tallies: Record<string, Tally> };

/**
 * How many requests one pod has answered in a second, and how many connections are kept to it at the end of that
 * second.
 */
export interface PodSecond {
  readonly answered: number;
  readonly kept: number;
}

/** An exchange, sent once: whatever became of it is the result. */
export interface Exchange {
  outcome: Outcome;
  reason?: string;
  /** The pod that answered, which names itself in a header. */
  pod?: string | undefined;
  isNewConnection: boolean;
  /** The other side has announced the end of the connection, in the way of the protocol. */
  toldToClose: boolean;
  /** An ordinary request, and not a stream that lasts. */
  isRequest: boolean;
}

/** One client, which sends its next request only after the answer to the last. */
export interface Client {
  ask(): Promise<Exchange>;
  /** Ends what would not end by itself. */
  end(): void;
}

/** How many milliseconds an answer may take. */
export const answerLimit = 30_000;
