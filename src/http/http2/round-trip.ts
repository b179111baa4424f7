// One ping on a session of HTTP/2: what its client sent before the answer has come, and what was sent before the ping has
// reached the client.
import type { ServerHttp2Session } from 'node:http2';
import type { Clock } from '../../clock.ts';

/**
 * quiet is how many milliseconds a client may take beyond a round trip: to ask the next thing behind an answer in a closed
 * loop, or to send a stream that its program had opened when its session was told. The thread that does so may have to wait
 * for a processor that the thread which answers a ping has got.
 */
export const quiet = 100;

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
