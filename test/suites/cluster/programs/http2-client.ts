// An HTTP/2 client without TLS. It keeps its session until it receives a GOAWAY, and never sends a request a second
// time.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { answerLimit, type Client, type Exchange } from './exchange.ts';

const refusedStream = 'REFUSED_STREAM';

/** The first of two GOAWAYs has the highest possible stream ID, so that it refuses no stream (RFC 9113 section 6.8). */
const highest = 2 ** 31 - 1;

/** http2Client returns a client that posts a random ID and expects it in the response. */
export function http2Client(target: URL): Client {
  let session: ClientHttp2Session | undefined;
  let lastStream: number | undefined;
  const asking = new Set<Promise<Exchange>>();
  return {
    async ask(): Promise<Exchange> {
      const isNewConnection = session === undefined || session.closed || session.destroyed;
      const toldToClose = lastStream !== undefined;
      if (isNewConnection) {
        lastStream = undefined;
        const made = await connected(target);
        if (typeof made === 'string') return { ...failed('refused', made), isNewConnection, toldToClose };
        session = made.on('goaway', (_code, last: number) => (lastStream = last));
      }
      const asked = exchange(session as ClientHttp2Session);
      asking.add(asked);
      const result = await asked;
      asking.delete(asked);
      // Node's HTTP/2 client itself rejects the requests that it has not sent when the first GOAWAY arrives. The server
      // never receives these requests, so they are sent again.
      if (result.reason === refusedStream && lastStream === highest) return this.ask();
      // Several GOAWAYs can arrive on one session, but the test counts them as one. `toldToClose` is true only in the
      // result of the first request on the client's next session.
      return { ...result, isNewConnection, toldToClose: toldToClose && isNewConnection };
    },
    end() {
      // Wait for the pending requests before the session is closed. Otherwise `close()` could fail a request that the
      // client is just creating.
      void Promise.all(asking).then(() => session?.close());
    },
  };
}

function failed(outcome: 'lost' | 'refused' | 'wrong', reason: string): Exchange {
  return { outcome, reason, isNewConnection: false, toldToClose: false, isRequest: true };
}

/** Opens an HTTP/2 session to the target. Resolves with the session, or with the reason why it could not be opened. */
async function connected(target: URL): Promise<ClientHttp2Session | string> {
  const session = connect(target);
  try {
    await once(session, 'connect', { signal: AbortSignal.timeout(answerLimit) });
  } catch (error) {
    session.destroy();
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
  return session.on('error', () => undefined); // Ignore errors of the session, because they also appear on its streams.
}

async function exchange(session: ClientHttp2Session): Promise<Exchange> {
  const order = randomUUID();
  let stream: ClientHttp2Stream;
  try {
    stream = session.request({ ':path': '/orders', ':method': 'POST', 'content-type': 'application/json' });
  } catch (error) {
    return failed('lost', (error as NodeJS.ErrnoException).code ?? String(error));
  }
  const seen = { text: '', status: 0, isComplete: false, pod: undefined as string | undefined };
  stream.setTimeout(answerLimit, () => {
    stream.close(constants.NGHTTP2_CANCEL);
  });
  stream.on('response', (headers) => {
    seen.status = Number(headers[':status']);
    seen.pod = headers['x-served-by']?.toString();
  });
  stream.setEncoding('utf8').on('data', (chunk: string) => (seen.text += chunk));
  stream.on('end', () => (seen.isComplete = true)).on('error', () => undefined); // The error code of the stream says how it ended.
  stream.end(JSON.stringify({ id: order }));
  await new Promise((resolve) => stream.once('close', resolve));
  const { text, status, isComplete, pod } = seen;
  if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return failed('refused', refusedStream);
  if (!isComplete || status === 0) return failed('lost', `stream ended by ${String(stream.rstCode)}`);
  if (status === 429 || status === 503) return failed('refused', String(status));
  if (status !== 201 || !text.includes(order)) return failed('wrong', `status ${String(status)}`);
  return { outcome: 'answered', pod, isNewConnection: false, toldToClose: false, isRequest: true };
}
