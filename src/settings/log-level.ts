// The levels and forms of the log.

/** logLevels are the values of `logLevel`, the quietest first. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** LogLevel is the least level of a line that is logged. */
export type LogLevel = (typeof logLevels)[number];

/** LogFormat is the form of a line on standard output. */
export type LogFormat = 'json' | 'gcp';

/** LineLevel is the level of a line. */
export type LineLevel = Exclude<LogLevel, 'silent'>;

/** isLogged tells whether a line is logged at a `logLevel`. */
export function isLogged(level: LineLevel, logLevel: LogLevel): boolean {
  return logLevels.indexOf(level) <= logLevels.indexOf(logLevel);
}
