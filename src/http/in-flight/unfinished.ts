// Describes the requests whose response is not complete, for the log and the debug socket.
import { hostAndPort } from '../../address.ts';
import type { UnfinishedRequest } from '../../observer.ts';
import type { Connection } from '../connection.ts';
import type { Exchange } from '../exchange.ts';
import { isEventStream } from '../responses/head.ts';
import type { Classifiers } from './request-functions.ts';
import { identifiersOf, type HttpRequest } from '../../message.ts';

/**
 * describeUnfinished returns the requests whose response is not complete, and the upgraded connections. The oldest is
 * the first.
 */
export function describeUnfinished(
  connections: Iterable<Connection>,
  now: number,
  route: Classifiers['route'],
): UnfinishedRequest[] {
  const ageMs = ({ arrivedAt }: Exchange): number => Math.round(now - arrivedAt);
  const describe = (connection: Connection): UnfinishedRequest[] => {
    try {
      return connection.unfinished().map((exchange) => ({
        method: exchange.request.method ?? '',
        route: route?.(exchange.request) ?? pathOf(exchange.request),
        ageMs: ageMs(exchange),
        peer: peerOf(exchange.request),
        ...identifiersOf(exchange.request),
        ...(isOrdinaryStream(exchange) && { isEventStream: true as const }),
      }));
    } catch {
      // Reading a property of a request or response has thrown an error, because the program has changed the object.
      // For the requests of this connection, the log and the debug socket then show only how old they are.
      return connection.exchanges.map((exchange) => ({ method: '*', route: '*', ageMs: ageMs(exchange), peer: '*' }));
    }
  };
  return [...connections].flatMap(describe).sort((a, b) => b.ageMs - a.ageMs);
}

// Tells whether the response to a request is an event stream that the drain does not end. The drain waits until the
// handler or the client ends it.
function isOrdinaryStream(exchange: Exchange): boolean {
  return exchange.state.is === 'serving' && isEventStream(exchange);
}

function peerOf({ socket: { remoteAddress, remotePort } }: HttpRequest): string {
  return remoteAddress === undefined || remotePort === undefined ? 'unix:' : hostAndPort(remoteAddress, remotePort);
}

function pathOf({ url = '' }: HttpRequest): string {
  return url.split('?', 1)[0] as string;
}
