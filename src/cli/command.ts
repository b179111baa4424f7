// What a subcommand of `lameduck` is, and how it says something.
import { writeSync } from 'node:fs';
import type { Environment } from '../settings/environment.ts';

/** Command resolves with the exit code of the process. */
export type Command = (args: readonly string[], environment: Environment) => Promise<number>;

/** say writes a line to a standard stream. `process.stdout` would take as long to make as a probe to answer. */
export function say(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, `${line}\n`);
  } catch {
    // Nobody reads it, and the exit code says the same.
  }
}
