// The types that all test clients share: their requests, their results, and their output.

/** The kind of request that a client sends, and whether it keeps its connection. */
export type Kind = 'kept GET' | 'kept POST' | 'new GET' | 'new POST' | 'upload' | 'slow' | LastingKind;
export type LastingKind = 'HTTP/2' | 'event stream' | 'WebSocket';

/**
 * Job describes `clients` clients of one kind, whose results are counted together under `name`. Each client pauses
 * between its requests, for `rest` milliseconds on average.
 */
export interface Job {
  readonly name: string;
  readonly kind: Kind;
  readonly url: string;
  readonly clients: number;
  readonly rest: number;
}

/**
 * How a request of a test client ended. *Answered*: the response is complete and correct. *Lost*: the request was sent
 * on an accepted connection whose end was not announced, and its response is not complete. *Refused*: the connection
 * failed, the complete response is a 429 or 503, or HTTP/2 allows the client to retry. *Wrong*: any other response.
 */
export type Outcome = 'answered' | 'lost' | 'refused' | 'wrong';

/** The counts of the requests and connections of one job's clients, and the duration of their slowest request. */
export type Tally = Record<Outcome | 'requests' | 'connections' | 'toldToClose' | 'slowestMilliseconds', number>;

/** A line of a client's output. */
export type Line =
  | { type: 'started' }
  | { type: 'second'; at: number; tallies: Record<string, Tally>; pods: Record<string, PodSecond> }
  | { type: 'failure'; at: number; name: string; outcome: Outcome; reason: string; pod: string }
  | { type: 'summary'; tallies: Record<string, Tally> };

/**
 * The counts of the clients for one server pod and one second. `answered` counts the responses in that second, and
 * `kept` the open connections at its end.
 */
export interface PodSecond {
  readonly answered: number;
  readonly kept: number;
}

/** The result of one request of a test client. A test client never retries a request. */
export interface Exchange {
  outcome: Outcome;
  reason?: string;
  /** The name of the pod that responded. Each pod sends its name in a response header. */
  pod?: string | undefined;
  isNewConnection: boolean;
  /**
   * True if the server has told the client that it will close this connection, for example with `Connection: close` or
   * GOAWAY.
   */
  toldToClose: boolean;
  /**
   * True if the client sends one request and waits for one response. False if the client uses an event stream, or sends
   * a message on a WebSocket.
   */
  isRequest: boolean;
}

/** One client. It sends a request only after the response to its previous request. */
export interface Client {
  ask(): Promise<Exchange>;
  /** Ends the connections and streams of this client that would stay open after the test. */
  end(): void;
}

/** How long a client waits for a response, in milliseconds. */
export const answerLimit = 30_000;
