// One ping on a session of HTTP/2: what its client sent before the answer has come, and what was sent before the ping has
// reached the client.
import type { ServerHttp2Session } from 'node:http2';
import type { Clock } from '../clock.ts';

/** roundTrip resolves when the client has answered a ping, or after so many milliseconds, with whether it has. */
export function roundTrip(session: ServerHttp2Session, clock: Clock, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (session.destroyed) {
      resolve(false);
      return;
    }
    const cancel = clock.after(Math.max(0, milliseconds), () => {
      resolve(false);
    });
    session.ping((error) => {
      cancel();
      resolve(error === null);
    });
  });
}
