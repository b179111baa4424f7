// close-with-grace, which fastify-cli depends on, ends the process after a delay of its own.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { formatDuration } from '../settings/duration.ts';
import type { Environment } from '../settings/environment.ts';

/**
 * closeWithGraceWarning returns a warning if close-with-grace listens for one of the process signals and may end the
 * process before `budget` milliseconds have passed. close-with-grace does not wait for the drain.
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

// Its listeners can be recognized by their text only: it neither exports them nor marks the process.
function isOfCloseWithGrace(listener: (...args: never[]) => void): boolean {
  return listener.name === 'onSignal' && /\brun\(\{ ?signal ?\}\)/.test(String(listener));
}

function isFastifyCli(command: readonly string[]): boolean {
  return command.some((part) => /[\\/]fastify-cli[\\/]/.test(part) || basename(part) === 'fastify');
}

// As fastify-cli reads it: the argument wins over the variable.
function delayOf(command: readonly string[], environment: Environment): number | undefined {
  const argument = /(?:^| )(?:--close-grace-delay|--closeGraceDelay|-g)[ =]?(\d+)/.exec(command.join(' '))?.[1];
  const delay = argument ?? environment['FASTIFY_CLOSE_GRACE_DELAY'];
  return delay === undefined ? undefined : Number(delay);
}

// fastify-cli removes its arguments from `process.argv`. Only Linux has the original command line.
function ownCommand(): string[] {
  try {
    return readFileSync('/proc/self/cmdline', 'utf8').split('\0');
  } catch {
    return process.argv;
  }
}
