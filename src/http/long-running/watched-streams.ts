// Which event streams are watches, and which are responses like any other.
import type { HttpExchange } from '../exchange.ts';
import type { Request } from '../../message.ts';
import { isEventStream } from '../responses/head.ts';

/** WatchedStreams is the setting `eventStreams`. */
export type WatchedStreams = 'reconnecting' | 'all' | 'none';

/**
 * watchedStreams returns a function that tells whether a response is an event stream that the drain may end after any event.
 * The clients of other event streams, for example of an LLM, would take a clean end for the whole response.
 */
export function watchedStreams(eventStreams: WatchedStreams): (exchange: HttpExchange) => boolean {
  if (eventStreams === 'none') return () => false;
  if (eventStreams === 'all') return isEventStream;
  return (exchange) => isOfEventSource(exchange.request) && isEventStream(exchange);
}

// Every EventSource sends this header and no other media type (HTML Living Standard, section 9.2.2), and reconnects.
function isOfEventSource({ method, headers }: Request): boolean {
  return method === 'GET' && headers.accept?.trim().toLowerCase() === 'text/event-stream';
}
