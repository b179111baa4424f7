// The AbortSignal of a request: there is one only for a request whose handler asked for it.
import { LameduckError } from '../../errors.ts';
import { connectionOf } from '../connection.ts';
import { keyOf, socketOf } from '../../message.ts';

const controllers = new WeakMap<object, AbortController>();

/**
 * abortSignalOf returns the AbortSignal of a request, the same one each time. It is aborted when its client has gone
 * before the answer was out, or by `abortRequest`.
 */
export function abortSignalOf(request: object): AbortSignal {
  const existing = controllers.get(keyOf(request));
  if (existing !== undefined) return existing.signal;
  const controller = new AbortController();
  controllers.set(keyOf(request), controller);
  const connection = connectionOf(socketOf(request));
  if (connection === undefined) {
    if (isGoneStream(keyOf(request))) abortRequest(request, 'it has ended');
    return controller.signal;
  }
  const response = connection.responseTo(request);
  if (response === undefined && !connection.isUpgraded) {
    abortRequest(request, 'it has ended');
    return controller.signal;
  }
  const onClose = (): void => {
    if (response?.writableFinished !== true) abortRequest(request, 'its client has gone');
  };
  if (connection.socket.destroyed) onClose();
  else (response ?? connection.socket).once('close', onClose);
  return controller.signal;
}

/** hasAbortSignal tells whether somebody asked for a request's signal. */
export function hasAbortSignal(request: object): boolean {
  return controllers.has(keyOf(request));
}

/** abortRequest aborts the signal of a request, if somebody asked for it; doing it again changes nothing. */
export function abortRequest(request: object, why: string): void {
  const controller = controllers.get(keyOf(request));
  if (controller === undefined || controller.signal.aborted) return;
  controller.abort(new LameduckError('LAMEDUCK_ERR_REQUEST_ENDED', `the request has to end: ${why}`));
}

// With its end a stream of HTTP/2 forgets the session that it was on.
function isGoneStream({ rstCode, destroyed }: { rstCode?: number; destroyed?: boolean }): boolean {
  return rstCode !== undefined && destroyed === true;
}
