// The type of a subcommand of `lameduck`, and the function that writes its output.
import { writeSync } from 'node:fs';
import type { Environment } from '../settings/environment.ts';

/** Command runs a subcommand and resolves with the exit code of the process. */
export type Command = (args: readonly string[], environment: Environment) => Promise<number>;

/**
 * `say()` writes a line to a standard stream. It avoids `process.stdout`, because creating that stream takes as long as
 * a whole probe.
 */
export function say(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, `${line}\n`);
  } catch {
    // The output stream is closed, so the line cannot be printed. The caller of the command still gets the exit code.
  }
}
