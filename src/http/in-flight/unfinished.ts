// Describes for the log the requests that have no complete answer.
import { hostAndPort } from '../../address.ts';
import type { UnfinishedRequest } from '../../observer.ts';
import type { Connection } from '../connection.ts';
import { isEventStream } from '../responses/head.ts';
import type { Asked } from '../admission/request-functions.ts';
import type { Request } from '../../message.ts';

/** describeUnfinished lists the requests that have no complete answer, and the upgraded connections, oldest first. */
export function describeUnfinished(
  connections: Iterable<Connection>,
  now: number,
  route: Asked['route'],
  { longRunning }: { readonly longRunning: { has(key: object): boolean } },
): UnfinishedRequest[] {
  return [...connections]
    .flatMap((connection) =>
      connection.unfinished().map(({ request, response, arrivedAt }) => ({
        method: request.method ?? '',
        route: route?.(request) ?? pathOf(request),
        ageMs: Math.round(now - arrivedAt),
        peer: peerOf(request),
        ...(response !== undefined && !longRunning.has(response) && isEventStream(response) && ordinaryStream),
      })),
    )
    .sort((a, b) => b.ageMs - a.ageMs);
}

const ordinaryStream = { isEventStream: true } as const;

function peerOf({ socket: { remoteAddress, remotePort } }: Request): string {
  return remoteAddress === undefined || remotePort === undefined ? 'unix:' : hostAndPort(remoteAddress, remotePort);
}

function pathOf({ url = '' }: Request): string {
  return url.split('?', 1)[0] as string;
}
