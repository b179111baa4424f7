// Runtimes and threads in which lameduck cannot do its work.
import { isMainThread } from 'node:worker_threads';

/** otherRuntime returns the name and version of Bun or Deno, if one of them runs this process. */
export function otherRuntime({ bun, deno }: NodeJS.ProcessVersions = process.versions): string | undefined {
  if (bun !== undefined) return `Bun ${bun}`;
  return deno === undefined ? undefined : `Deno ${deno}`;
}

/** runtimeWarning returns a warning in a runtime other than Node. */
export function runtimeWarning(runtime = otherRuntime()): string | undefined {
  if (runtime === undefined) return undefined;
  return `${runtime} runs this program: lameduck sees connections on Node.js only, and a shutdown here can lose requests`;
}

/** threadWarning returns a warning in a worker thread, to which Node delivers no process signals. */
export function threadWarning(): string | undefined {
  if (isMainThread) return undefined;
  return 'a worker thread receives no process signals: call duck.shutdown() there when the main thread sends it a message';
}
