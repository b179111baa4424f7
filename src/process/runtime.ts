// Detects Bun and Deno, in which lameduck does not work.

/**
 * otherRuntime returns the name and version of Bun or Deno if one of them runs this process. Otherwise, it returns
 * undefined.
 */
export function otherRuntime({ bun, deno }: NodeJS.ProcessVersions = process.versions): string | undefined {
  if (bun !== undefined) return `Bun ${bun}`;
  return deno === undefined ? undefined : `Deno ${deno}`;
}

/** runtimeWarning returns the warning for a runtime other than Node. */
export function runtimeWarning(runtime = otherRuntime()): string | undefined {
  if (runtime === undefined) return undefined;
  return `${runtime} runs this program: lameduck sees connections on Node.js only, and a shutdown here can lose requests`;
}
