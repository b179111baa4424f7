// The rows of settingsTable that configure the log.
import { choice } from './kinds.ts';
import { logLevels, type LogFormat, type LogLevel } from './log-level.ts';
import { row } from './row.ts';

export const logRows = {
  /**
   * logLevel: The lowest level of a line that is logged: `debug`, `info`, `warn` or `error`. The final line of a
   * shutdown is logged at each of these levels. `silent` logs nothing.
   *
   * @default `info`
   */
  logLevel: row<LogLevel>({ kind: choice(...logLevels), default: () => 'info' }),
  /**
   * logFormat: The format of the lines on standard output: pino's (`json`), or Google Cloud's with `severity` and
   * `message` (`gcp`). It has no effect on a `logger` of the program.
   *
   * @default `json`
   */
  logFormat: row<LogFormat>({ kind: choice('json', 'gcp'), default: () => 'json' }),
} as const;
