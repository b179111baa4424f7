// A client of HTTP/2 without TLS. It reuses one session until the server sends GOAWAY or closes the session.
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { hostAndPort } from '../../../address.ts';
import { DelayedSocket } from './delayed-socket.ts';
import { accountOf, type Account, type Target } from './exchange.ts';

/** Http2Client sends its requests on one HTTP/2 session, and opens a new session when the server has closed it. */
export class Http2Client {
  readonly #target: Target;
  #session: ClientHttp2Session | undefined;
  #socket: DelayedSocket | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /**
   * isOpen tells whether the client may send another request on the session: no GOAWAY of the server has arrived. A
   * GOAWAY that the server has already sent may still be under way.
   */
  get isOpen(): boolean {
    return this.#session !== undefined && !this.#session.closed && !this.#session.destroyed;
  }

  /** `request()` sends a GET and resolves with its result. It never rejects. */
  request(path: string): Promise<Account> {
    const session = this.isOpen ? this.#session : this.#open();
    return new Promise((resolve) => {
      let status: number | undefined;
      const fail = (why: string): void => {
        const isUnanswered = status === undefined;
        resolve(this.#socket?.isConnected === true ? { kind: 'lost', why, isUnanswered } : { kind: 'refused', why });
      };
      if (session === undefined) {
        fail('no session');
        return;
      }
      const stream = session.request({ ':path': path });
      let isEnded = false;
      stream.on('response', ({ ':status': received }) => {
        status = received;
      });
      stream.on('end', () => {
        isEnded = true;
      });
      stream.resume();
      stream.on('error', () => undefined);
      stream.on('close', () => {
        const { rstCode } = stream;
        if (rstCode === constants.NGHTTP2_REFUSED_STREAM) resolve({ kind: 'refused', why: 'REFUSED_STREAM' });
        else if (!isEnded || rstCode !== 0 || status === undefined) fail(`stream closed with code ${String(rstCode)}`);
        else resolve(accountOf(status));
      });
    });
  }

  close(): void {
    this.#session?.destroy();
  }

  #open(): ClientHttp2Session {
    const { host, port } = this.#target;
    const socket = new DelayedSocket(host, port);
    const session = connect(`http://${hostAndPort(host, port)}`, { createConnection: () => socket });
    session.on('error', () => undefined);
    this.#socket = socket;
    this.#session = session;
    return session;
  }
}
