// The rows of settingsTable that belong to the log.
import { choice } from './kinds.ts';
import { logLevels, type LogFormat, type LogLevel } from './log-level.ts';
import { row } from './row.ts';

export const logRows = {
  /**
   * The least level of a line that is logged: `debug`, `info`, `warn` or `error`. The final line of a shutdown is logged at each
   * of these. `silent` logs nothing.
   *
   * @default `info`
   */
  logLevel: row<LogLevel>({ kind: choice(...logLevels), default: () => 'info' }),
  /**
   * The form of the lines on standard output: that of pino (`json`), or that of Google Cloud with `severity` and `message`
   * (`gcp`). A `logger` of the program has its own form.
   *
   * @default `json`
   */
  logFormat: row<LogFormat>({ kind: choice('json', 'gcp'), default: () => 'json' }),
} as const;
