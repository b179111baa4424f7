// `lameduck` as the kubelet runs it: a process of its own, whose exit code and one line are all that counts.
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CommandUnderTest } from './command-under-test.ts';
import { disposed } from './disposed.ts';

type Variables = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** main is the file of the command. */
export const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** lameduck runs the command to its end. */
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

/** probeOnce runs `lameduck probe` with more patience than a loaded machine needs to start it. */
export function probeOnce(t: TestContext, args: readonly string[], env: Variables = {}): Promise<Ended> {
  return lameduck(t, ['probe', ...args, '--timeout=20s'], env);
}
