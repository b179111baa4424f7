// Simulated clients of HTTP/1.1 and HTTP/1.0. The server process receives SIGTERM at a random time while the clients
// send their requests.
import { setTimeout } from 'node:timers/promises';
import { silenceBeforeClose } from '../../../src/http/drain/drain.ts';
import { eventSource } from '../../support/watching.ts';
import type { Answer } from './answer.ts';
import { Wire } from './wire.ts';
import { between, oneOf, pause, type Random, type World } from './world.ts';

/**
 * Client simulates one client. It sends its requests one after another, and ends early if the server accepts no more
 * connections.
 */
export type Client = (world: World, name: string, random: Random) => Promise<void>;

let ids = 0;

function head(method: string, path: string, headers = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
}

/** `ask()` returns a random HTTP request as text, and the body that the response to this request must have. */
function ask(random: Random): { readonly text: string; readonly body: string } {
  const id = String(++ids);
  const path = `/?id=${id}${oneOf(random, ['', '', `&after=${String(between(random, 0, 400))}`])}`;
  if (random() < 0.6) return { text: head('GET', path), body: `${id} 0` };
  const body = 'b'.repeat(between(random, 1, 5_000));
  return {
    text: head('POST', path, `Content-Length: ${String(body.length)}\r\n`) + body,
    body: `${id} ${String(body.length)}`,
  };
}

async function expectBody(wire: Wire, what: string, body: string): Promise<boolean> {
  return isBody(wire, what, body, await wire.served(what));
}

function isBody(wire: Wire, what: string, body: string, answer: Answer | undefined): boolean {
  if (answer !== undefined && answer.body !== body)
    wire.fail(`${what}: ${answer.body.slice(0, 80)} instead of ${body}`);
  return answer !== undefined;
}

/**
 * `connections()` opens one connection after another and calls `talk` with each, until the server refuses a connection.
 */
async function connections(
  world: World,
  name: string,
  talk: (wire: Wire) => Promise<void>,
  most = Infinity,
  isHalfOpen = false,
): Promise<void> {
  for (let count = 0; count < most; count++) {
    const wire = await Wire.open(world, name, isHalfOpen);
    if (wire === undefined) return;
    await talk(wire);
    wire.close();
    // A client whose connection was refused does not reconnect.
    if (wire.isRefused) return;
  }
}

/** A client that sends its next request as soon as the previous response has arrived, or a little later. */
const closedLoop: Client = async (world, name, random) => {
  const thinking = oneOf(random, [0, 0, 30, 300]);
  await connections(world, name, async (wire) => {
    while (wire.isFit) {
      const { text, body } = ask(random);
      wire.send(text);
      if (!(await expectBody(wire, 'request', body))) return;
      if (thinking > 0) await pause(random, 0, thinking);
    }
  });
};

/**
 * A client that sends several requests without waiting for the responses, in one write or in two. After a response with
 * `Connection: close`, the server handles none of the remaining requests (P-009).
 */
const pipeline: Client = async (world, name, random) => {
  await connections(world, name, async (wire) => {
    while (wire.isFit) {
      const asked = Array.from({ length: between(random, 2, 5) }, () => ask(random));
      const text = asked.map((one) => one.text).join('');
      const cut = random() < 0.5 ? text.length : between(random, 1, text.length);
      wire.send(text.slice(0, cut));
      if (cut < text.length) {
        await pause(random, 0, 100);
        wire.send(text.slice(cut));
      }
      for (const { body } of asked) {
        if (wire.saidClose) return;
        if (!(await expectBody(wire, 'pipelined', body))) return;
      }
    }
  });
};

/**
 * A client that sends a part of a request line or of its headers. It then sends nothing for longer than the server
 * keeps an idle connection open.
 */
const halfHead: Client = async (world, name, random) => {
  await connections(
    world,
    name,
    async (wire) => {
      for (let count = between(random, 1, 3); count > 0 && wire.isFit; count--) {
        const { text, body } = ask(random);
        const cut = between(random, 1, text.indexOf('\r\n\r\n') + 2);
        wire.send(text.slice(0, cut));
        const since = performance.now();
        await pause(random, 0, 2_500);
        const wasSilent = performance.now() - since >= silenceBeforeClose;
        if (wire.isTold) {
          // With shutdownSendRetryAfter, the server would refuse the client's request in any case. So the server may
          // close the connection while the client has sent only a part of the request head.
          if (!world.sendsRetryAfter || !world.mayRefuse)
            wire.fail(`a connection with half a request head was ended by ${wire.error ?? 'FIN'}`);
          return;
        }
        wire.send(text.slice(cut));
        const answer = await wire.answer();
        // The test also accepts that the client gets no response. The server may have sent its FIN before it received
        // the rest of the client's request head.
        const hasCrossed = answer === undefined && wire.error === undefined && wire.received.length === 0;
        if (hasCrossed && wasSilent && world.sendsRetryAfter && world.mayRefuse) return;
        if (!isBody(wire, 'half head', body, wire.judge('half head', answer))) return;
      }
    },
    2,
  );
};

/** A client that sends a body slowly in pieces, with or without `Expect: 100-continue`. */
const upload: Client = async (world, name, random) => {
  await connections(
    world,
    name,
    async (wire) => {
      const id = String(++ids);
      const isExpecting = random() < 0.5;
      const path = oneOf(random, [`/?id=${id}`, `/?id=${id}`, `/now?id=${id}`]);
      const pieces = Array.from({ length: between(random, 1, 10) }, () => 'u'.repeat(between(random, 1, 30_000)));
      const length = pieces.join('').length;
      const isChunked = random() < 0.5;
      const framing = isChunked ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${String(length)}\r\n`;
      wire.send(head('POST', path, `${framing}${isExpecting ? 'Expect: 100-continue\r\n' : ''}`));
      if (isExpecting) {
        const first = await wire.answer([100]);
        if (first?.status !== 100) {
          wire.judge('expecting upload', first);
          return;
        }
      }
      for (const piece of pieces) {
        await pause(random, 0, 150);
        wire.send(isChunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
      }
      if (isChunked) wire.send('0\r\n\r\n');
      await expectBody(wire, `upload to ${path}`, path.startsWith('/now') ? `${id} 0` : `${id} ${String(length)}`);
      if (isExpecting && wire.isRefused) wire.fail('refused after a 100');
    },
    between(random, 1, 4),
    random() < 0.5,
  );
};

/** A client that slowly reads a long response. */
const slowReader: Client = async (world, name, random) => {
  await connections(
    world,
    name,
    async (wire) => {
      const [pieces, bytes] = [between(random, 1, 10), between(random, 1, 200_000)];
      wire.send(
        head('GET', `/pieces?pieces=${String(pieces)}&bytes=${String(bytes)}&after=${String(between(random, 0, 100))}`),
      );
      const done = new AbortController();
      const stutter = (async () => {
        while (!done.signal.aborted && !wire.hasEnded) {
          wire.socket.pause();
          await pause(random, 0, 120);
          wire.socket.resume();
          await pause(random, 0, 30);
        }
      })();
      const answer = await wire.served('long answer');
      done.abort();
      if (answer !== undefined && answer.body.length !== pieces * bytes + 3) wire.fail('a long response is incomplete');
      await stutter;
    },
    between(random, 1, 4),
  );
};

/** A client that reads each event stream to its clean end, and reconnects. */
const eventStream: Client = async (world, name, random) => {
  await connections(world, name, async (wire) => {
    while (wire.isFit) {
      wire.send(head('GET', '/events', eventSource));
      const answer = await wire.served('event stream');
      if (answer === undefined) return;
      if (!/(^|\n\n)(retry: \d+\n\n?)?$/.test(answer.body))
        wire.fail(`an event stream ended with ${answer.body.slice(-30)}`);
      if (random() < 0.5) return;
    }
  });
};

/**
 * A client that sends a long poll. The server has no news for it, so the drain must end the poll with a response, and
 * no response may arrive before the drain.
 */
const longPoll: Client = async (world, name) => {
  const wire = await Wire.open(world, name);
  wire?.send(head('GET', '/poll'));
  const answer = await wire?.answer();
  if (wire !== undefined && answer?.status !== 503) wire.judge('long poll', answer);
  else if (!world.isTold) wire?.fail('a long poll got its response before the signal');
  wire?.close();
};

/** A client that sends nothing, and waits for the server to end the connection. */
const silent: Client = async (world, name) => {
  const wire = await Wire.open(world, name);
  await wire?.ended();
  wire?.judgeEnd('a silent connection');
  if (!world.isTold) wire?.fail('a silent connection was ended before the signal');
};

/**
 * A client that sends a request, is silent for a while, and sends a second request. The second one is served unless the
 * server has sent a FIN before.
 */
const lateWaker: Client = async (world, name, random) => {
  const wire = await Wire.open(world, name);
  if (wire === undefined) return;
  wire.send(head('GET', '/now?id=1'));
  if ((await wire.served('first of two')) === undefined) return;
  await Promise.race([pause(random, 900, 3_000), wire.ended()]);
  const before = wire.bytes;
  wire.send(head('GET', '/now?id=2'));
  const answer = await wire.answer();
  if (answer !== undefined) wire.judge('second of two', answer);
  else if (wire.bytes > before) wire.fail('a late response is incomplete');
  wire.close();
};

/** A client that uses HTTP/1.0, or that sends `Connection: close` over HTTP/1.1. */
const oldFashioned: Client = async (world, name, random) => {
  await connections(world, name, async (wire) => {
    const isOld = random() < 0.5;
    wire.send(isOld ? 'GET /now?id=7 HTTP/1.0\r\n\r\n' : head('GET', '/?id=7&after=20', 'Connection: close\r\n'));
    await expectBody(wire, 'old-fashioned', '7 0');
    await pause(random, 0, 50);
  });
};

/**
 * A client that half-closes its connection with a FIN after its request. It sends the request only after SIGTERM,
 * because before SIGTERM Node itself ends half-closed connections.
 */
const halfCloser: Client = async (world, name, random) => {
  if (world.isSecure) return;
  const wire = await Wire.open(world, name, true);
  if (wire === undefined) return;
  await world.told;
  await setTimeout(between(random, 300, 500));
  if (!wire.isTold) {
    wire.send(head('GET', oneOf(random, ['/?id=9&after=300', '/pieces?pieces=5&bytes=10&after=100'])));
    wire.socket.end();
    await wire.served('half-closed');
  }
  wire.close();
};

/** A client whose requests block the event loop of the server from time to time. */
const blocker: Client = async (world, name, random) => {
  await connections(world, name, async (wire) => {
    await pause(random, 0, 600);
    if (!wire.isFit) return;
    wire.send(head('GET', '/block'));
    await expectBody(wire, 'blocking', 'end');
  });
};

/** A client that ends its connection at a random point. Requests that it cuts itself do not count as lost. */
const breaker: Client = async (world, name, random) => {
  await connections(
    world,
    name,
    async (wire) => {
      wire.send(
        oneOf(random, [
          ask(random).text,
          head('GET', '/events', oneOf(random, ['', eventSource])),
          head('GET', '/pieces?pieces=9&bytes=99999&after=20'),
          'GET /ha',
        ]),
      );
      await pause(random, 0, 300);
      if (world.isSecure || random() < 0.5) wire.socket.destroy();
      else wire.socket.resetAndDestroy();
    },
    5,
  );
};

export const http1Clients: Readonly<Record<string, Client>> = {
  closedLoop,
  pipeline,
  halfHead,
  upload,
  slowReader,
  eventStream,
  longPoll,
  silent,
  lateWaker,
  oldFashioned,
  halfCloser,
  blocker,
  breaker,
};
