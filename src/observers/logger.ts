// What a logger has to have, the program's own or pino.
import { quoted } from '../errors.ts';

/** Logger is the part of pino's interface that is used; any logger that has it will do. */
export interface Logger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
  /** Called behind the final line, so that a logger that writes later writes it now. */
  flush?(): void;
}

/** loggerProblem says what is wrong with a logger that was given, or returns undefined. */
export function loggerProblem(logger: unknown): string | undefined {
  const methods = ['info', 'warn', 'error'] as const;
  const given = logger as Partial<Record<string, unknown>> | null;
  const isThere = (typeof given === 'object' || typeof given === 'function') && given !== null;
  if (isThere && methods.every((name) => typeof given[name] === 'function')) {
    return undefined;
  }
  return `option logger: ${quoted(logger)}: allowed is one with the functions ${methods.join(', ')}`;
}
