// Runs two HTTP/2 clients, a Go program and curl, and reports the results of their requests in one format.
import { createInterface } from 'node:readline';
import { CommandUnderTest } from '../../support/command-under-test.ts';

// How many URLs the test passes to curl. curl never requests all of them, because the test ends curl earlier.
const mostAsked = 20_000;

const atOnce = 10;

// How many lines of curl's log a test prints, to show why a connection ended.
const longestTrace = 150;

const body = 'x'.repeat(10_000);

// The error messages which show that the server did not execute the request. Either the connection could not be opened,
// or the server refused the stream.
const refusals = [/connection refused/i, /couldn't connect|failed to connect/i, /cannot retry err \[.*GOAWAY\]/];

// The error that Go's HTTP/2 client reports if a GOAWAY arrives before Go has written the request. Go then closes the
// body of the request, and cannot send the request on another connection.
const closedUnsent = 'cannot rewind body';

// The error that Go's HTTP/2 client reports if a GOAWAY arrives while Go is about to send a request. The server does
// not execute such a request. With Go's own server, 20 of 530 000 requests of Go 1.26 failed with this error, and the
// server executed none of the 20. After a GOAWAY, Go closes the bodies of its unsent requests (closeReqBodyLocked in
// net/http). If rewindBody has just seen that the body of a request was open, Go still sends the request, but can no
// longer read its body. If the server resets a stream, Go reports a different error.
const closedWhileSent = 'io: read/write on closed pipe';

/** The result of one request that a client has sent. */
export interface Asked {
  readonly id: string;
  readonly outcome: 'answered' | 'refused' | 'unsent' | 'lost';
  readonly status: number;
  readonly error: string;
  /**
   * How many times the client sent the request, including retries. The string is empty if the client does not report
   * this number.
   */
  readonly sent: string;
  /** The local port of the connection on which the client sent the request, or 0 if this port is unknown. */
  readonly port: number;
  /** When the client reported the result of the request, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * ForeignClient is an HTTP/2 client, Go or curl, that runs in its own process. The process ends when the server refuses
 * the connections of the client.
 */
export class ForeignClient extends CommandUnderTest {
  readonly asked: Asked[] = [];
  /**
   * How many requests the HTTP/2 client has sent again on its own, after the server had refused them or had sent a
   * GOAWAY.
   */
  resent = 0;
  /**
   * For each request that curl sent again although the server had sent neither GOAWAY nor REFUSED_STREAM: the last
   * lines of curl's log.
   */
  readonly died: string[] = [];
  /** The numbers that curl gave to the connections on which it has received a GOAWAY. */
  readonly #told = new Set<string>();
  readonly name: string;

  constructor(name: string, command: string, args: readonly string[]) {
    super(command, args);
    this.name = name;
    for (const input of [this.child.stdout, this.child.stderr]) {
      createInterface({ input: input as NodeJS.ReadableStream }).on('line', (line) => {
        this.#note(line);
      });
    }
  }

  #note(line: string): void {
    const fields = line.split('\t');
    if (fields.length >= 6) this.add(fields);
    else this.#noteTrace(line);
  }

  // A line of curl's log about a connection begins with the numbers of the request and of the connection.
  #noteTrace(line: string): void {
    const [, connection = '', text = ''] = /^\[\d+-(\w+)\] \* (.*)/.exec(line) ?? [];
    if (text.startsWith('received GOAWAY')) this.#told.add(connection);
    if (!text.includes('retrying a fresh connect')) return;
    if (text.startsWith('REFUSED_STREAM') || this.#told.has(connection)) this.resent++;
    else this.died.push(this.output.split('\n').slice(-longestTrace).join('\n'));
  }

  protected add([url = '', status = '', length = '', port = '', sent = '', ...rest]: readonly string[]): void {
    const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
    const error = rest.join(' ');
    this.resent += Math.max(0, Number(sent) - 1);
    this.asked.push({
      id: query.get('id') ?? '',
      outcome: outcomeOf(query, { status: Number(status), length: Number(length), sent, error }),
      status: Number(status),
      error,
      sent,
      port: Number(/127\.0\.0\.1:(\d+)->/.exec(error)?.[1] ?? port),
      at: Date.now(),
    });
  }
}

/**
 * Curl runs one curl process with many URLs. After a refused connection, curl would still try all other URLs. So this
 * class ends the curl process as soon as a connection was refused and all requests that curl has started have ended.
 */
class Curl extends ForeignClient {
  #last = 0;

  protected override add(fields: readonly string[]): void {
    super.add(fields);
    this.#last = Math.max(this.#last, Number(this.asked.at(-1)?.id.split('-')[1]));
    const isRefused = this.asked.slice(-atOnce).every(({ outcome }) => outcome === 'refused');
    // curl starts its requests in order. So all started requests have ended if there are as many results as the number
    // of the last request. After a refused connection, curl opens no session for later requests.
    if (isRefused && this.#last === this.asked.length) this.kill('SIGTERM');
  }
}

interface Ended extends Pick<Asked, 'status' | 'sent' | 'error'> {
  readonly length: number;
}

function outcomeOf(query: URLSearchParams, { status, length, sent, error }: Ended): Asked['outcome'] {
  if (sent === '0' && error.includes(closedUnsent)) return 'unsent';
  if (sent === '1' && error.endsWith(closedWhileSent)) return 'unsent';
  if (refusals.some((refusal) => refusal.test(error))) return 'refused';
  if (error === '' && status === 429) return 'refused';
  return error === '' && status === 200 && length === lengthOfAnswer(query) ? 'answered' : 'lost';
}

// lengthOfAnswer returns the length of the response that the server in test/fixtures/tells-what-it-executed.ts sends.
function lengthOfAnswer(query: URLSearchParams): number {
  const pieces = Number(query.get('pieces')) * Number(query.get('bytes'));
  return pieces + `${String(query.get('id'))} ${String(Number(query.get('sends')))}`.length;
}

/**
 * goClient starts a Go client of net/http that uses four HTTP/2 sessions. Twenty goroutines send one request after
 * another.
 */
export function goClient(url: string): ForeignClient {
  return new ForeignClient('Go', process.env['HTTP2_CLIENT'] as string, [url]);
}

const queries = {
  get: 'after=20',
  post: `sends=${String(body.length)}&after=20`,
  download: 'pieces=5&bytes=20000&after=10',
} as const;

/** `curl()` runs ten requests at a time. curl sends them in one session for as long as that session accepts them. */
export function curl(kind: keyof typeof queries, url: string): ForeignClient {
  return new Curl(`curl, ${kind}`, process.env['CURL'] as string, [
    '--http2-prior-knowledge',
    '--insecure',
    '--noproxy',
    '*',
    '--max-time',
    '15',
    '--parallel',
    '--parallel-max',
    String(atOnce),
    '--silent',
    '--verbose',
    '--trace-ids',
    '--output',
    '/dev/null',
    '--write-out',
    String.raw`%{stderr}%{url_effective}\t%{http_code}\t%{size_download}\t%{local_port}\t\t%{errormsg}\n`,
    ...(kind === 'post' ? ['--data', body] : []),
    `${url}/?id=${kind}-[1-${String(mostAsked)}]&${queries[kind]}`,
  ]);
}
