// close-with-grace, which starters such as fastify-cli bring along, ends the process after a delay of its own.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { formatDuration } from '../settings/duration.ts';
import type { Environment } from '../settings/environment.ts';

/**
 * closeWithGraceWarning returns what should be said when close-with-grace listens for one of the process signals and may
 * end the process before `budget` milliseconds have passed: it does not know how long a drain takes.
 */
export function closeWithGraceWarning(
  signals: readonly NodeJS.Signals[],
  budget: number,
  environment: Environment,
): string | undefined {
  const listens = signals.some((signal) => process.listeners(signal).some(isOfCloseWithGrace));
  return listens ? describeCloseWithGrace(ownCommand(), budget, environment) : undefined;
}

/** describeCloseWithGrace is closeWithGraceWarning for the command line of a process in which it listens. */
export function describeCloseWithGrace(
  command: readonly string[],
  budget: number,
  environment: Environment,
): string | undefined {
  if (!isFastifyCli(command)) {
    return `close-with-grace ends this process when its delay is over, with requests in flight or not: give it ${formatDuration(budget)} or more, or take it out, since lameduck listens for process signals itself`;
  }
  const delay = delayOf(command, environment);
  if (delay !== undefined && delay >= budget) return undefined;
  return `fastify-cli ends this process when its delay is over, 500ms unless given, with requests in flight or not: start it with --close-grace-delay ${String(budget)} or more`;
}

// Nothing else tells: its listeners are exported nowhere, and it leaves no mark on the process.
function isOfCloseWithGrace(listener: (...args: never[]) => void): boolean {
  return listener.name === 'onSignal' && /\brun\(\{ ?signal ?\}\)/.test(String(listener));
}

function isFastifyCli(command: readonly string[]): boolean {
  return command.some((part) => /[\\/]fastify-cli[\\/]/.test(part) || basename(part) === 'fastify');
}

// As fastify-cli reads it: a variable counts where there is no argument.
function delayOf(command: readonly string[], environment: Environment): number | undefined {
  const argument = /(?:^| )(?:--close-grace-delay|--closeGraceDelay|-g)[ =]?(\d+)/.exec(command.join(' '))?.[1];
  const delay = argument ?? environment['FASTIFY_CLOSE_GRACE_DELAY'];
  return delay === undefined ? undefined : Number(delay);
}

// fastify-cli takes its arguments out of `process.argv`; outside Linux they are not to be had.
function ownCommand(): string[] {
  try {
    return readFileSync('/proc/self/cmdline', 'utf8').split('\0');
  } catch {
    return process.argv;
  }
}
