// Whether a debugger has paused the main thread, as the probe thread sees it.

import { systemClock } from '../clock.ts';

// A main thread that runs JavaScript or is paused replies within tens of milliseconds, one in native code not at all.
const longestReply = 300;

/** isPaused tells whether the main thread is paused at a breakpoint, whenever the debugger was attached. It never rejects. */
export function isPaused(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    // A Node that was built without the inspector has no such module.
    const { Session } = process.getBuiltinModule('node:inspector');
    const session = new Session();
    session.connectToMainThread();
    session.once('Debugger.paused', () => {
      resolve(true);
    });
    session.post('Debugger.enable', () => {
      resolve(false);
    });
    void promise.then(() => {
      session.disconnect();
    });
    systemClock.after(longestReply, () => {
      resolve(false);
    });
  } catch {
    resolve(false);
  }
  return promise;
}
