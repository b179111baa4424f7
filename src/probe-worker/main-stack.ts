// Reads the call stack of the main thread while it is blocked, with a debugger session of the probe thread.
import type { Debugger, InspectorNotification } from 'node:inspector';
import { systemClock } from '../clock.ts';

// How long to wait for the call stack of the main thread, in milliseconds. While the main thread runs native code, such
// as `execSync`, a debugger cannot pause it.
const longestWait = 2_000;

// The maximum number of calls in the stack that is returned. If there are more calls, the outermost calls are omitted.
const mostCalls = 50;

// The promise of the attempt in progress to read the main thread's call stack. All callers share this promise, because
// only one debugger session at a time may pause the main thread.
let taking: Promise<readonly string[]> | undefined;

/**
 * mainStack returns the calls that the main thread executes, innermost first. It pauses the main thread for some
 * milliseconds and always resumes it. It rejects if the main thread does not pause within two seconds. Concurrent calls
 * share one stack.
 */
export function mainStack(): Promise<readonly string[]> {
  taking ??= take().finally(() => {
    taking = undefined;
  });
  return taking;
}

async function take(): Promise<readonly string[]> {
  // If Node was built without the inspector, this module does not exist.
  const { Session } = process.getBuiltinModule('node:inspector');
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }: InspectorNotification<Debugger.ScriptParsedEventDataType>) => {
    urls.set(params.scriptId, params.url);
  });
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  const late = (): void => {
    reject(new Error('the main thread is running native code, which a debugger cannot pause'));
  };
  const cancel = systemClock.afterUnref(longestWait, late);
  session.once('Debugger.paused', ({ params }: InspectorNotification<Debugger.PausedEventDataType>) => {
    resolve(params.callFrames.slice(0, mostCalls).map((call) => callText(call, urls)));
  });
  try {
    session.post('Debugger.enable');
    session.post('Debugger.pause');
    return await promise;
  } finally {
    cancel();
    // If the debugger has paused the main thread, the end of the debugger session makes the main thread continue.
    session.disconnect();
  }
}

function callText({ functionName, location }: Debugger.CallFrame, urls: ReadonlyMap<string, string>): string {
  const place = `${urls.get(location.scriptId) ?? ''}:${String(location.lineNumber + 1)}:${String((location.columnNumber ?? 0) + 1)}`;
  return `${functionName === '' ? '<anonymous>' : functionName} (${place})`;
}
