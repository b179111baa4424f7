// The interface of a logger: pino, or the program's own logger.
import { isLogged, type LogLevel } from '../settings/log-level.ts';

/** Logger is the part of pino's interface that lameduck uses. Any object with these methods is valid. */
export interface Logger {
  /** `debug()` is called only if `logLevel` is `debug`. */
  debug?(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
  /**
   * `flush()` writes the lines that the logger has buffered. lameduck calls it after the final line. The health check
   * `log` also calls it every minute. If the function takes a callback, lameduck waits until the callback is called.
   * Otherwise, lameduck waits for the promise that the function returns, if it returns one.
   */
  flush?(callback?: (error?: unknown) => void): unknown;
}

/** `quiet` is a Logger that drops every line. */
export const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** fromLevel returns a Logger that drops the lines below `logLevel`. */
export function fromLevel(logger: Logger, logLevel: LogLevel): Logger {
  return {
    ...logger,
    ...(!isLogged('debug', logLevel) && { debug: () => undefined }),
    ...(!isLogged('info', logLevel) && { info: () => undefined }),
    ...(!isLogged('warn', logLevel) && { warn: () => undefined }),
  };
}

/**
 * loggerAllowed checks a value that should be a logger. It returns undefined if the value is valid, and otherwise a
 * text that says what is expected.
 */
export function loggerAllowed(logger: unknown): string | undefined {
  const methods = ['info', 'warn', 'error'] as const;
  const given = logger as Partial<Record<string, unknown>> | null;
  const isThere = (typeof given === 'object' || typeof given === 'function') && given !== null;
  if (isThere && methods.every((name) => typeof given[name] === 'function')) {
    return undefined;
  }
  return `an object with the functions ${methods.join(', ')}`;
}
