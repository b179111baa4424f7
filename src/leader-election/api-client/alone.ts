// A substitute for the API server, for LAMEDUCK_LEADER_ELECTION_ALONE=1. It stores one Lease in memory, so that an
// elector leads without a cluster. Everything else works as in a cluster.
import type { Answer } from './answer.ts';
import type { LeaseApi } from './api-client.ts';
import { parseLease, type Lease } from '../decision/lease.ts';
import type { LeaseRequest } from '../decision/state.ts';

/**
 * aloneApi returns a substitute for the API server. It keeps one Lease in memory. `firstVersion` is the first
 * resourceVersion of this Lease.
 */
export function aloneApi(firstVersion: number): LeaseApi {
  let version = BigInt(Math.trunc(firstVersion));
  let stored: Lease | undefined;
  const answer = (lease: Lease | undefined): Answer => ({
    reply: lease === undefined ? { kind: 'absent' } : { kind: 'lease', lease, altered: undefined },
    problem: undefined,
  });
  return {
    send({ body }: LeaseRequest) {
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
