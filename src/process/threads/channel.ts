// Sends messages between the threads of this process. Each message reaches every other thread that has a lifecycle.
import { BroadcastChannel, threadId } from 'node:worker_threads';
import type { InternalChannel } from '../../node-internals.ts';

// The name of the broadcast channel on which lameduck's threads exchange messages. Change the number in this name
// whenever the format of the messages changes.
const name = 'lameduck.threads/v1';

/**
 * ThreadChannel sends and receives messages of lameduck between threads. It does not keep its thread's event loop
 * alive.
 */
export class ThreadChannel implements InternalChannel {
  connected = true;
  readonly #channel = new BroadcastChannel(name);

  /** send broadcasts a message with the `threadId` of this thread, on a channel that the program does not use. */
  send(message: object): void {
    this.#channel.postMessage({ ...message, threadId });
  }

  on(_event: string, listener: (message: unknown) => void): void {
    this.#channel.onmessage = ({ data }: { readonly data: unknown }) => {
      listener(data);
    };
    this.#channel.unref();
  }

  close(): void {
    this.connected = false;
    this.#channel.close();
  }
}

/**
 * onceAtExit calls `callback` when this thread exits, and returns a function that calls `callback` earlier. `callback`
 * is called only once.
 */
export function onceAtExit(callback: (exitCode: number) => void): (exitCode: number) => void {
  const call = (exitCode: number): void => {
    process.off('exit', call);
    callback(exitCode);
  };
  process.on('exit', call);
  return call;
}
