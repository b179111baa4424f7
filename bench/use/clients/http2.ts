// The clients that send requests over HTTP/2, without TLS and over TLS.
import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { sendAll } from './send-all.ts';
import { concurrent, type Client } from './client.ts';

/**
 * sessionCount is the number of sessions on which a load generator sends its requests. The requests in flight are
 * divided equally among the sessions.
 */
export const sessionCount = 4;

/** `http2()` returns an HTTP/2 client that connects to `http:` or `https:` URLs, as `scheme` says. */
export function http2(scheme: 'http' | 'https'): Client {
  const open = async (port: number): Promise<ClientHttp2Session> => {
    const session = connect(`${scheme}://127.0.0.1:${String(port)}`, { rejectUnauthorized: false });
    await once(session, 'remoteSettings');
    return session;
  };
  return {
    async load(port) {
      const sessions = await Promise.all(Array.from({ length: sessionCount }, () => open(port)));
      const senders = sessions.flatMap((session) => {
        return Array.from({ length: concurrent / sessionCount }, () => () => respond(session));
      });
      return {
        run: (requests) => sendAll(senders, requests),
        [Symbol.dispose]: () => {
          for (const session of sessions) session.destroy();
        },
      };
    },
    async once(port) {
      const session = await open(port);
      const closed = once(session, 'close');
      await respond(session);
      session.close();
      await closed;
    },
    async idle(port) {
      const session = await open(port);
      return { [Symbol.dispose]: () => session.destroy() };
    },
  };
}

async function respond(session: ClientHttp2Session): Promise<void> {
  const stream = session.request({ ':path': '/' });
  stream.resume();
  await once(stream, 'close');
  if (stream.rstCode !== 0) throw new Error(`a stream ended with the error code ${String(stream.rstCode)}`);
}
