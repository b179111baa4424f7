// Simulated HTTP/2 clients. Each client opens one session after another until the server refuses a connection. Each
// session has many concurrent streams.
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';
import { dial, type Dialed } from './dial.ts';
import type { Client } from './http1-clients.ts';
import { between, oneOf, pause, type Random, type World } from './world.ts';

const highest = 2 ** 31 - 1;

let ids = 0;

/** Session is one HTTP/2 connection, and what the server has announced about the close of this connection. */
class Session {
  readonly #world: World;
  readonly #name: string;
  readonly #session: ClientHttp2Session;
  readonly #port: number;
  readonly #socket: Dialed['socket'];
  /** True if the server has refused a request in this session that arrived after NotAcceptingNewRequest. */
  isRefused = false;
  #lastStream = Infinity;
  /**
   * True if the client has received the first GOAWAY of a shutdown. This GOAWAY has the highest possible stream ID, so
   * it refuses no stream. After this GOAWAY, the client must open no more streams.
   */
  #isAnnounced = false;
  #error: string | undefined;

  private constructor(world: World, name: string, { socket, port }: Dialed) {
    this.#world = world;
    this.#name = name;
    this.#port = port;
    this.#socket = socket;
    this.#session = connect('http://127.0.0.1', { createConnection: () => socket });
    this.#session.on('goaway', (_code, last: number) => {
      this.#lastStream = last;
      this.#isAnnounced ||= last === highest;
    });
    this.#session.on('error', (error: NodeJS.ErrnoException) => (this.#error = error.code ?? error.message));
  }

  /** `open()` connects, and returns undefined if the server refuses the connection. */
  static async open(world: World, name: string): Promise<Session | undefined> {
    const dialed = await dial(world, name, 'h2');
    return dialed && new Session(world, name, dialed);
  }

  get isFit(): boolean {
    return !this.#session.closed && !this.#session.destroyed && this.#lastStream === Infinity && !this.isRefused;
  }

  /** `ask()` opens a stream and waits until it has closed. It resolves with true if the request was served. */
  async ask(
    path: string,
    expected: RegExp,
    send: (stream: ClientHttp2Stream) => Promise<void> | void,
    sent: OutgoingHttpHeaders = { ':method': 'POST' },
  ): Promise<boolean> {
    const world = this.#world;
    const stream = this.#session.request({ ':path': path, ...sent }, { endStream: false });
    const got = { status: 0, retryAfter: false, body: '', isWhole: false, error: '' };
    stream.setEncoding('latin1');
    stream.on('response', (headers) => {
      got.status = headers[':status'] ?? 0;
      got.retryAfter = headers['retry-after'] !== undefined;
    });
    stream.on('data', (text: string) => (got.body += text));
    stream.on('end', () => (got.isWhole = got.status !== 0 && stream.rstCode === 0));
    stream.on('error', (error: NodeJS.ErrnoException) => (got.error = error.code ?? error.message));
    const closed = new Promise((resolve) => stream.on('close', resolve));
    await send(stream);
    await closed;
    const what = `${this.#name}: stream ${String(stream.id)}`;
    const isAbove = (stream.id ?? Infinity) > this.#lastStream;
    // If the stream has no ID, Node's client has reported an error for this request without sending it.
    if (stream.id === undefined) return false;
    if (!got.isWhole && (stream.rstCode === 7 || isAbove)) world.refuseStream(what, this.#isAnnounced);
    else if (!got.isWhole && got.status === 0 && this.#isReset(got.error)) {
      world.reset(this.#port, what);
    } else if (!got.isWhole) world.fail(`${what} lost: ${got.error} ${String(stream.rstCode)} ${this.#error ?? ''}`);
    else if (got.status === 429 || got.status === 503) {
      this.isRefused = true;
      world.refuse(what);
      if (!got.retryAfter) world.fail(`${what} refused without Retry-After`);
    } else if (got.status !== 200 || !expected.test(got.body))
      world.fail(`${what}: ${String(got.status)} ${got.body.slice(0, 80)}`);
    else {
      world.answered++;
      return true;
    }
    return false;
  }

  // If a connection ends before the client has received a byte, Node does not always report whether it was reset.
  #isReset(error: string): boolean {
    return (this.#error ?? error) === 'ECONNRESET' || this.#socket.bytesRead === 0;
  }

  close(): void {
    this.#session.close();
  }
}

async function sessions(world: World, name: string, talk: (session: Session) => Promise<void>): Promise<void> {
  for (;;) {
    const session = await Session.open(world, name);
    if (session === undefined) return;
    await talk(session);
    session.close();
    // A client does not reconnect after the server has refused a request on its HTTP/2 session.
    if (session.isRefused) return;
  }
}

async function request(session: Session, random: Random): Promise<void> {
  const id = String(++ids);
  const pieces = oneOf(random, [0, 0, 0, 3]);
  const bytes = between(random, 1, 20_000);
  const after = oneOf(random, ['', '', `&after=${String(between(random, 0, 400))}`]);
  await session.ask(`/?id=${id}${after}`, new RegExp(`^${id} ${String(pieces * bytes)}$`), async (stream) => {
    for (let piece = 0; piece < pieces; piece++) {
      await pause(random, 0, 100);
      if (stream.writable) stream.write('u'.repeat(bytes));
    }
    stream.end();
  });
}

/** A client that runs several loops in one session. Each loop opens one stream after another. */
const streams: Client = async (world, name, random) => {
  const [parallel, thinking] = [oneOf(random, [1, 2, 10]), oneOf(random, [0, 0, 50, 300])];
  await sessions(world, name, async (session) => {
    const loop = async (): Promise<void> => {
      while (session.isFit) {
        await request(session, random);
        if (thinking > 0) await pause(random, 0, thinking);
      }
    };
    await Promise.all(Array.from({ length: parallel }, loop));
  });
};

/**
 * A client that reads each event stream until the server ends the stream cleanly. At the same time, the client reads
 * long responses.
 */
const streamReader: Client = async (world, name, random) => {
  await sessions(world, name, async (session) => {
    const events = (): Promise<boolean> =>
      session.ask(
        '/events',
        /(^|\n\n)(retry: \d+\n\n?)?$/,
        (stream) => {
          stream.end();
        },
        { accept: 'text/event-stream' },
      );
    const pieces = (): Promise<boolean> =>
      session.ask(
        `/pieces?pieces=5&bytes=50000&after=${String(between(random, 0, 200))}`,
        /^x{250000}end$/,
        (stream) => {
          stream.end();
        },
      );
    await Promise.all([events(), ...(session.isFit ? [pieces()] : [])]);
  });
};

export const http2Clients: Readonly<Record<string, Client>> = { streams, streamReader };
