// The type of a subcommand of `lameduck`, and the function that writes its output.
import { writeSync } from 'node:fs';
import type { Environment } from '../settings/environment.ts';

/** Command resolves with the exit code of the process. */
export type Command = (args: readonly string[], environment: Environment) => Promise<number>;

/** say writes a line to a standard stream. Creating `process.stdout` would take as long as a whole probe. */
export function say(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, `${line}\n`);
  } catch {
    // Nobody reads it, and the exit code says the same.
  }
}
