// Command lines that came as settings, such as how to call kubectl, with arguments appended.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** The output of a command. */
export interface Said {
  readonly output: string;
  readonly complaint: string;
}

/** Runs a command line that came as a setting, with arguments appended; rejects with what it said when it fails. */
export async function run(commandLine: string, ...args: string[]): Promise<string> {
  return (await feed('', commandLine, ...args)).output;
}

/** Does the same with `input` as its standard input. */
export async function feed(input: string, commandLine: string, ...args: string[]): Promise<Said> {
  const child = start(commandLine, args);
  child.stdin.on('error', () => undefined).end(input);
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${commandLine} ${args.join(' ')} failed: ${complaint || output}`);
  return { output, complaint };
}

/** start starts a command line that came as a setting. */
export function start(commandLine: string, args: string[]): ChildProcessWithoutNullStreams {
  // `exec` makes the command the child itself, so that ending the child ends the command.
  return spawn('/bin/sh', ['-c', `exec ${commandLine} "$@"`, 'sh', ...args], { stdio: 'pipe' });
}
