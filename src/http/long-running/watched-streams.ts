// Decides which event streams the drain ends, and which it treats as ordinary responses.
import type { HttpExchange } from '../exchange.ts';
import type { HttpRequest } from '../../message.ts';
import { isEventStream } from '../responses/head.ts';

/** WatchedStreams is the type of the setting `eventStreams`: which event streams the drain ends. */
export type WatchedStreams = 'reconnecting' | 'all' | 'none';

/**
 * watchedStreams returns a function that recognizes event streams whose client reconnects. The drain may end such a
 * response after any event. Other clients, for example those of an LLM, would mistake this end for the end of the
 * complete response.
 */
export function watchedStreams(eventStreams: WatchedStreams): (exchange: HttpExchange) => boolean {
  if (eventStreams === 'none') return () => false;
  if (eventStreams === 'all') return isEventStream;
  return (exchange) => isOfEventSource(exchange.request) && isEventStream(exchange);
}

// Recognizes a request of an EventSource, which reconnects on its own. An EventSource always sends this Accept header
// and no other media type (HTML Living Standard, section 9.2.2).
function isOfEventSource({ method, headers }: HttpRequest): boolean {
  return method === 'GET' && headers.accept?.trim().toLowerCase() === 'text/event-stream';
}
