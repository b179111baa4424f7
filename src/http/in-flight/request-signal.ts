// The AbortSignal of a request: there is one only for a request whose handler asked for it.
import { LameduckError } from '../../errors.ts';
import { keyOf } from '../../message.ts';
import type { Connection } from '../connection.ts';
import type { Exchange } from '../exchange.ts';

// On the request itself: a handler may ask again when its exchange has been released, or when there never was one.
const controllerKey = Symbol('lameduck.abort-controller');

interface Aborted {
  [controllerKey]?: AbortController;
}

interface StreamEnd {
  readonly rstCode?: number;
  readonly destroyed?: boolean;
}

/**
 * abortSignalOf returns the AbortSignal of a request, the same one each time. It is aborted when its client has gone
 * before the answer was out, or by `abortRequest`. A request that was injected in the process has no connection.
 */
export function abortSignalOf(
  request: object,
  connection: Connection | undefined,
  exchange: Exchange | undefined,
): AbortSignal {
  const key: Aborted & StreamEnd = keyOf(request);
  if (key[controllerKey] !== undefined) return key[controllerKey].signal;
  const { signal } = (key[controllerKey] = new AbortController());
  if (connection === undefined) {
    if (isGoneStream(key)) abortRequest(request, 'it has ended');
  } else if (exchange === undefined) {
    abortRequest(request, 'it has ended');
  } else {
    const onEnd = (): void => {
      if (!exchange.isWhole) abortRequest(request, 'its client has gone');
    };
    if (connection.socket.destroyed) onEnd();
    else exchange.onEnd(onEnd);
  }
  return signal;
}

/** hasAbortSignal tells whether somebody asked for a request's signal. */
export function hasAbortSignal(request: object): boolean {
  return (keyOf(request) as Aborted)[controllerKey] !== undefined;
}

/** abortRequest aborts the signal of a request, if somebody asked for it; doing it again changes nothing. */
export function abortRequest(request: object, why: string): void {
  const controller = (keyOf(request) as Aborted)[controllerKey];
  if (controller === undefined || controller.signal.aborted) return;
  controller.abort(new LameduckError('LAMEDUCK_ERR_REQUEST_ENDED', `the request has to end: ${why}`));
}

// With its end a stream of HTTP/2 forgets the session that it was on.
function isGoneStream({ rstCode, destroyed }: StreamEnd): boolean {
  return rstCode !== undefined && destroyed === true;
}
