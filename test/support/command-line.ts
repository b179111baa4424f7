// Runs command lines that an environment variable contains, such as KUBECTL, with further arguments.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Said has the standard output and the standard error of one command. */
export interface Said {
  readonly output: string;
  readonly complaint: string;
}

/**
 * Runs a command line with further arguments, and resolves with its output. If the command fails, rejects with an error
 * that contains the output.
 */
export async function run(commandLine: string, ...args: string[]): Promise<string> {
  return (await feed('', commandLine, ...args)).output;
}

/** `feed()` runs a command line with `input` as its standard input, and resolves with the output. */
export async function feed(input: string, commandLine: string, ...args: string[]): Promise<Said> {
  const child = start(commandLine, args);
  child.stdin.on('error', () => undefined).end(input);
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${commandLine} ${args.join(' ')} failed: ${complaint || output}`);
  return { output, complaint };
}

/** `start()` starts a command line with further arguments as a child process. */
export function start(commandLine: string, args: string[]): ChildProcessWithoutNullStreams {
  // With the shell's `exec`, the command replaces the shell. So a signal to the child process reaches the command.
  return spawn('/bin/sh', ['-c', `exec ${commandLine} "$@"`, 'sh', ...args], { stdio: 'pipe' });
}
