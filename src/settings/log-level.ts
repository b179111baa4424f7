// The values of the setting `logLevel`, and the formats of a log line.

/** logLevels are the values of `logLevel`, the quietest first. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** LogLevel is a value of the setting `logLevel`: the lowest level of the lines that are logged. */
export type LogLevel = (typeof logLevels)[number];

/** LogFormat is the format of a log line on standard output. */
export type LogFormat = 'json' | 'gcp';

/** LineLevel is the level of a log line. */
export type LineLevel = Exclude<LogLevel, 'silent'>;

/** isLogged tells whether a line of the level `level` is logged when the setting `logLevel` has the given value. */
export function isLogged(level: LineLevel, logLevel: LogLevel): boolean {
  return logLevels.indexOf(level) <= logLevels.indexOf(logLevel);
}
