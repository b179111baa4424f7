// The interface of a logger: pino, or the program's own.
import { isLogged, type LogLevel } from '../settings/log-level.ts';

/** Logger is the part of pino's interface that lameduck uses. Any object with these methods is accepted. */
export interface Logger {
  /** Called only at `logLevel: 'debug'`. */
  debug?(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
  /**
   * Called after the final line, so that a buffered logger writes that line. The check `log` also calls it every minute. If
   * the function takes a callback, the check waits for the callback. Otherwise it waits for the returned promise, if any.
   */
  flush?(callback?: (error?: unknown) => void): unknown;
}

/** quiet is a Logger that drops every line. */
export const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** fromLevel is a Logger without the lines that `logLevel` leaves out. */
export function fromLevel(logger: Logger, logLevel: LogLevel): Logger {
  return {
    ...logger,
    ...(!isLogged('debug', logLevel) && { debug: () => undefined }),
    ...(!isLogged('info', logLevel) && { info: () => undefined }),
    ...(!isLogged('warn', logLevel) && { warn: () => undefined }),
  };
}

/** loggerAllowed says what is allowed instead of a logger that cannot log. */
export function loggerAllowed(logger: unknown): string | undefined {
  const methods = ['info', 'warn', 'error'] as const;
  const given = logger as Partial<Record<string, unknown>> | null;
  const isThere = (typeof given === 'object' || typeof given === 'function') && given !== null;
  if (isThere && methods.every((name) => typeof given[name] === 'function')) {
    return undefined;
  }
  return `one with the functions ${methods.join(', ')}`;
}
