// Detects close-with-grace, on which fastify-cli depends. close-with-grace ends the process after its own delay.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { formatDuration } from '../settings/duration.ts';
import type { Environment } from '../settings/environment.ts';

/**
 * closeWithGraceWarning returns a warning if close-with-grace may end the process before `budget` milliseconds have
 * passed. close-with-grace listens for process signals and does not wait for lameduck's drain.
 */
export function closeWithGraceWarning(
  signals: readonly NodeJS.Signals[],
  budget: number,
  environment: Environment,
): string | undefined {
  const listens = signals.some((signal) => process.listeners(signal).some(isOfCloseWithGrace));
  return listens ? describeCloseWithGrace(ownCommand(), budget, environment) : undefined;
}

/**
 * describeCloseWithGrace returns the warning for a process in which close-with-grace listens for process signals. The
 * command line shows whether fastify-cli started the process.
 */
export function describeCloseWithGrace(
  command: readonly string[],
  budget: number,
  environment: Environment,
): string | undefined {
  if (!isFastifyCli(command)) {
    return `close-with-grace ends this process after its delay, even with requests in flight: set its delay to at least ${formatDuration(budget)}, or remove close-with-grace, because lameduck itself handles process signals`;
  }
  const delay = delayOf(command, environment);
  if (delay !== undefined && delay >= budget) return undefined;
  return `fastify-cli ends this process after its delay (default 500ms), even with requests in flight: start fastify-cli with --close-grace-delay ${String(budget)} or more`;
}

// Recognizes a listener of close-with-grace by its source text, because close-with-grace neither exports its listeners
// nor marks the process.
function isOfCloseWithGrace(listener: (...args: never[]) => void): boolean {
  return listener.name === 'onSignal' && /\brun\(\{ ?signal ?\}\)/.test(String(listener));
}

function isFastifyCli(command: readonly string[]): boolean {
  return command.some((part) => /[\\/]fastify-cli[\\/]/.test(part) || basename(part) === 'fastify');
}

// Reads the delay of close-with-grace in the same way as fastify-cli. The option `--close-grace-delay` overrides the
// environment variable FASTIFY_CLOSE_GRACE_DELAY.
function delayOf(command: readonly string[], environment: Environment): number | undefined {
  const argument = /(?:^| )(?:--close-grace-delay|--closeGraceDelay|-g)[ =]?(\d+)/.exec(command.join(' '))?.[1];
  const delay = argument ?? environment['FASTIFY_CLOSE_GRACE_DELAY'];
  return delay === undefined ? undefined : Number(delay);
}

// Reads the original command line of this process from Linux, because fastify-cli removes its arguments from
// `process.argv`.
function ownCommand(): string[] {
  try {
    return readFileSync('/proc/self/cmdline', 'utf8').split('\0');
  } catch {
    return process.argv;
  }
}
