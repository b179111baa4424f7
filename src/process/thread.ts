// Worker threads, to which Node delivers no process signals.
import { isMainThread } from 'node:worker_threads';

/** threadWarning returns a warning in a worker thread. */
export function threadWarning(): string | undefined {
  if (isMainThread) return undefined;
  return 'a worker thread receives no process signals: call duck.shutdown() there when the main thread sends it a message';
}
