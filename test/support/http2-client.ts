// An HTTP/2 client that records how each request ended, and when each session received a GOAWAY.
import {
  connect,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type Settings,
} from 'node:http2';
import { once } from 'node:events';

/**
 * Outcome says how a request ended. `code` is the error code with which the stream closed. 0 means no error, and 7
 * means that the server did not execute the request.
 */
export interface Outcome {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly isWhole: boolean;
  readonly code: number | undefined;
}

export class Http2Client {
  readonly session: ClientHttp2Session;
  /** The last stream identifier of each received GOAWAY, in order. */
  readonly goaways: number[] = [];
  readonly closed: Promise<void>;

  constructor(port: number, isSecure = false, settings: Settings = {}) {
    const address = `${isSecure ? 'https' : 'http'}://127.0.0.1:${String(port)}`;
    this.session = connect(address, { rejectUnauthorized: false, settings });
    this.session.on('goaway', (_code, last: number) => this.goaways.push(last));
    this.session.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.session.on('close', resolve));
  }

  async connected(): Promise<void> {
    if (this.session.connecting) await once(this.session, 'connect');
  }

  /**
   * `request()` sends a request, and resolves when its stream has closed. It calls `onData` for each chunk that
   * arrives.
   */
  async request(
    path: string,
    headers: OutgoingHttpHeaders = {},
    onData: (text: string) => void = () => undefined,
  ): Promise<Outcome> {
    const stream = this.session.request({ ':path': path, ...headers });
    const outcome = {
      status: undefined as number | undefined,
      headers: {} as IncomingHttpHeaders,
      body: '',
      isWhole: false,
    };
    stream.setEncoding('latin1');
    stream.on('response', (received) => {
      outcome.status = received[':status'];
      outcome.headers = received;
    });
    stream.on('data', (text: string) => {
      outcome.body += text;
      onData(outcome.body);
    });
    stream.on('end', () => (outcome.isWhole = stream.rstCode === 0 && outcome.status !== undefined));
    stream.on('error', () => undefined);
    await new Promise((resolve) => stream.on('close', resolve));
    return { ...outcome, code: stream.rstCode };
  }
}
