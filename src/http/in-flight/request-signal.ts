// The AbortSignal of a request. It is created when the handler first calls `abortSignal`.
import { LameduckError } from '../../errors.ts';
import { keyOf } from '../../message.ts';
import type { Connection } from '../connection.ts';
import type { Exchange } from '../exchange.ts';

// The key under which the request object stores the AbortController of the request. lameduck's own record of the
// request does not store it, because a handler may read the signal after the response has ended.
const controllerKey = Symbol('lameduck.abort-controller');

interface Aborted {
  [controllerKey]?: AbortController;
}

interface StreamEnd {
  readonly rstCode?: number;
  readonly destroyed?: boolean;
}

/**
 * abortSignalOf returns the AbortSignal of a request. Each call returns the same signal. It is aborted by
 * `abortRequest`, or when the client disconnects before the complete response has been sent. A request that a test
 * injected in the process has no connection, so its signal is aborted only by `abortRequest`.
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
    if (isGoneStream(key)) abortRequest(request, 'the request had already ended');
  } else if (exchange === undefined) {
    abortRequest(request, 'the request had already ended');
  } else {
    const onEnd = (): void => {
      if (!exchange.isWhole) abortRequest(request, 'the client disconnected');
    };
    if (connection.socket.destroyed) onEnd();
    else exchange.onEnd(onEnd);
  }
  return signal;
}

/** hasAbortSignal tells whether the AbortSignal of a request has been created. */
export function hasAbortSignal(request: object): boolean {
  return (keyOf(request) as Aborted)[controllerKey] !== undefined;
}

/** abortRequest aborts the AbortSignal of a request, if the signal has been created. A second call has no effect. */
export function abortRequest(request: object, why: string): void {
  const controller = (keyOf(request) as Aborted)[controllerKey];
  if (controller === undefined || controller.signal.aborted) return;
  controller.abort(new LameduckError('LAMEDUCK_ERR_REQUEST_ENDED', `the request was aborted: ${why}`));
}

// Tells whether the client has reset an HTTP/2 stream. The function looks at the stream and not at its session, because
// an ended stream no longer refers to its session.
function isGoneStream({ rstCode, destroyed }: StreamEnd): boolean {
  return rstCode !== undefined && destroyed === true;
}
