// Runs HTTP/2 clients in Go and curl, and reports the results of their requests in one format.
import { createInterface } from 'node:readline';
import { CommandUnderTest } from '../../support/command-under-test.ts';

// The number of URLs that curl receives. The test ends curl long before it has requested all of them.
const mostAsked = 20_000;

const atOnce = 10;

// The number of lines of curl's own log that are kept, to show why a connection ended.
const longestTrace = 150;

const body = 'x'.repeat(10_000);

// Errors that show that the server did not execute the request: the connection could not be opened, or the server
// refused the stream.
const refusals = [/connection refused/i, /couldn't connect|failed to connect/i, /cannot retry err \[.*GOAWAY\]/];

// Go's error if its session received a GOAWAY before Go had written the request. Go closes the body of the request, and
// then cannot send the request again.
const closedUnsent = 'cannot rewind body';

// After a GOAWAY, Go closes the body of a request that it has not yet written, in another goroutine (closeReqBodyLocked
// in net/http). If this happens just after rewindBody has found the body open, Go sends the request for the first time,
// but cannot read the body. Go 1.26 does this with its own server too, for 20 of 530 000 requests, of which the server
// executed none. A server's reset gives a different error.
const closedWhileSent = 'io: read/write on closed pipe';

/** The result of one request that a client has sent. */
export interface Asked {
  readonly id: string;
  readonly outcome: 'answered' | 'refused' | 'unsent' | 'lost';
  readonly status: number;
  readonly error: string;
  /** How many times the client sent the request, retries included, if the client reports this. */
  readonly sent: string;
  /** The local port, or 0 if it is unknown. */
  readonly port: number;
  /** When the result was reported, in milliseconds since 1970. */
  readonly at: number;
}

/** ForeignClient is a client in its own process. The process ends when the server refuses the client. */
export class ForeignClient extends CommandUnderTest {
  readonly asked: Asked[] = [];
  /**
   * How many requests the client has sent again on its own, because the server had refused them or had sent a GOAWAY.
   */
  resent = 0;
  /**
   * For each request that curl sent again without a GOAWAY or REFUSED_STREAM from the server: the last lines of curl's
   * log.
   */
  readonly died: string[] = [];
  /** The connections that have received a GOAWAY. Each is identified by the number that curl gives it. */
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
 * Curl runs curl with many URLs. If a connection was refused, curl would still try all other URLs. So the test ends
 * curl when a connection was refused and no request is pending.
 */
class Curl extends ForeignClient {
  #last = 0;

  protected override add(fields: readonly string[]): void {
    super.add(fields);
    this.#last = Math.max(this.#last, Number(this.asked.at(-1)?.id.split('-')[1]));
    const isRefused = this.asked.slice(-atOnce).every(({ outcome }) => outcome === 'refused');
    // curl starts its requests in order. A request that curl starts after a refusal has no session to use, and curl
    // opens no new session for it.
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

// lengthOfAnswer returns the length of the response of test/fixtures/tells-what-it-executed.ts.
function lengthOfAnswer(query: URLSearchParams): number {
  const pieces = Number(query.get('pieces')) * Number(query.get('bytes'));
  return pieces + `${String(query.get('id'))} ${String(Number(query.get('sends')))}`.length;
}

/** goClient starts a Go client with four sessions of net/http, which run twenty loops of requests. */
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
