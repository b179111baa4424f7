// Determines whether a debugger is attached to the inspector, and whether a debugger has paused the main thread. The
// functions of this file run in the probe thread.
import { readFileSync } from 'node:fs';
import { systemClock } from '../clock.ts';

/**
 * longestReply is the longest time, in milliseconds, that `isPaused` waits for the main thread. The main thread does
 * not reply while it runs native code.
 */
export const longestReply = 300;

const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/**
 * isAttached tells whether a debugger is connected to the inspector on `port`. Port 0 means no inspector. If the system
 * does not show connections, as on macOS, every inspector counts as attached.
 */
export function isAttached(port: number): boolean {
  if (port === 0) return false;
  const texts = tables.flatMap((path) => read(path) ?? []);
  return texts.length === 0 || texts.some((text) => hasConnection(text, port));
}

/**
 * hasConnection tells whether the text of /proc/net/tcp contains an established connection to a local port. The kernel
 * documents the format in proc_net_tcp.txt.
 */
export function hasConnection(table: string, port: number): boolean {
  const digits = port.toString(16).toUpperCase().padStart(4, '0');
  return new RegExp(`^ *\\d+: [\\dA-F]+:${digits} [\\dA-F]+:[\\dA-F]{4} 01 `, 'm').test(table);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/** isPaused tells whether the main thread is paused at a breakpoint. It never rejects. */
export function isPaused(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    // If Node was built without the inspector, this module does not exist.
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
