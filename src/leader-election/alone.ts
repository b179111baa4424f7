// A Lease without a cluster, for LAMEDUCK_LEADER_ELECTION_ALONE=1: nobody else contends, and everything else is the same.
import type { Answer } from './answer.ts';
import type { LeaseApi } from './api-client.ts';
import { parseLease, type Lease } from './lease.ts';
import type { Request } from './state.ts';

/** aloneApi returns an API server that keeps one Lease in memory. Its first resourceVersion is `firstVersion`. */
export function aloneApi(firstVersion: number): LeaseApi {
  let version = BigInt(Math.trunc(firstVersion));
  let stored: Lease | undefined;
  const answer = (lease: Lease | undefined): Answer => ({
    reply: lease === undefined ? { kind: 'absent' } : { kind: 'lease', lease },
    problem: undefined,
  });
  return {
    send({ body }: Request) {
      if (body !== undefined) {
        const metadata = { ...body.metadata, uid: 'alone', resourceVersion: String(version++) };
        stored = parseLease({ ...body, metadata });
      }
      return Promise.resolve(answer(stored));
    },
    watch: (_onOpen, _onChange, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve(undefined);
        });
      }),
    record: () => Promise.resolve(true),
    closeWatch: () => undefined,
    close: () => undefined,
  };
}
