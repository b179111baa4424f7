// Runs the `lameduck` command as the kubelet does, and reads only its exit code and one line of its output.
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CommandUnderTest } from './command-under-test.ts';
import { disposed } from './disposed.ts';

type Variables = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** `main` is the path of the command's main file. */
export const main = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');

/** `lameduck()` runs the command and waits until it exits. */
export async function lameduck(
  t: TestContext,
  args: readonly string[],
  env: Variables = {},
  nodeOptions: readonly string[] = [],
): Promise<Ended> {
  const command = disposed(t, new CommandUnderTest(process.execPath, [...nodeOptions, main, ...args], { env }));
  const { code } = await command.exit;
  return { code, output: command.output };
}

/** probeOnce runs `lameduck probe` with a timeout that is long enough for a busy machine. */
export function probeOnce(t: TestContext, args: readonly string[], env: Variables = {}): Promise<Ended> {
  return lameduck(t, ['probe', ...args, '--timeout=20s'], env);
}
