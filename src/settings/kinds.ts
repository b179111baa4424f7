// Each setting has a Kind, which reads the value of the setting from an environment variable or from an option in code.
// If the value is invalid, the Kind returns a text that says which values are expected.
import { isIP } from 'node:net';
import { constants } from 'node:os';
import { formatDuration, parseDuration } from './duration.ts';

/** Reading is the result of reading a setting: a valid value, or a text that says what is expected. */
export type Reading<Value> = { readonly value: Value } | { readonly allowed: string };

/**
 * Kind parses one type of setting value. `fromText` parses the text of an environment variable, and `fromCode` checks
 * the value of an option.
 */
export interface Kind<Value> {
  readonly name: string;
  fromText(text: string): Reading<Value>;
  fromCode(given: unknown): Reading<Value>;
  format(value: Value): string;
}

// The longest delay of setTimeout in milliseconds. A timer with a longer delay would fire at once.
const longestTimer = 2 ** 31 - 1;

/** `duration` reads a duration, in milliseconds. */
export const duration: Kind<number> = durationFrom(0);

/** `limit` reads the value of a setting that is a time limit. The shortest valid value is 1 ms. */
export const limit: Kind<number> = durationFrom(1);

/**
 * `period` reads a duration of at least one second. Go programs in a leader election cannot distinguish two renewals
 * within one second (L-018).
 */
export const period: Kind<number> = durationFrom(1_000);

/** wholeSeconds reads a duration of whole seconds, because a Lease stores no fractions of a second (L-004). */
export const wholeSeconds: Kind<number> = durationFrom(1_000, 'a duration of whole seconds such as 15s or 1m', 1_000);

const namespaceAllowed = 'the name of a namespace: at most 63 lower-case letters, digits and "-"';

/** `namespace` reads the name of a namespace. */
export const namespace: Kind<string | undefined> = {
  name: 'namespace',
  fromText: (text) =>
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text) ? { value: text } : { allowed: namespaceAllowed },
  fromCode(given) {
    return typeof given === 'string' ? this.fromText(given) : { allowed: namespaceAllowed };
  },
  format: String,
};

function durationFrom(least: number, what = 'a duration such as 15s or 1m30s', step?: number): Kind<number> {
  const allowed = `${what}, from ${formatDuration(least)} to 596h`;
  const inRange = (milliseconds: number): Reading<number> =>
    milliseconds >= least && milliseconds <= longestTimer && (step === undefined || milliseconds % step === 0)
      ? { value: positive(milliseconds) }
      : { allowed };
  return {
    name: 'duration',
    fromText(text) {
      const milliseconds = parseDuration(text);
      if (milliseconds !== undefined) return inRange(milliseconds);
      const meant = withUnit(text);
      const isAllowed = meant !== undefined && 'value' in inRange(parseDuration(meant) ?? NaN);
      return { allowed: isAllowed ? `a duration with its unit; did you mean ${meant}?` : allowed };
    },
    fromCode(given) {
      if (typeof given === 'number') return inRange(given);
      return typeof given === 'string' ? this.fromText(given) : { allowed: `${allowed}, or milliseconds` };
    },
    format: formatDuration,
  };
}

// Adds a unit to a duration that was given without a unit, for the question `did you mean …?`. A number below 1000 gets
// the unit seconds, any other number the unit milliseconds.
function withUnit(text: string): string | undefined {
  if (!/^\d{1,15}(\.\d{1,15})?$/.test(text)) return undefined;
  return `${text}${Number(text) < 1_000 ? 's' : 'ms'}`;
}

// Adding 0 turns -0 into 0, so that the log and error messages show the value of the setting without a minus sign.
function positive(value: number): number {
  return value + 0;
}

const stallLimitAllowed = durationFrom(1_000);

/**
 * stallLimit reads how long the event loop must be blocked before a probe fails. Short limits are invalid, because a
 * busy event loop would exceed them. 0 means no limit.
 */
export const stallLimit: Kind<number> = {
  ...stallLimitAllowed,
  fromText: (text) => orNone(duration.fromText(text), stallLimitAllowed.fromText(text)),
  fromCode: (given) => orNone(duration.fromCode(given), stallLimitAllowed.fromCode(given)),
};

function orNone(any: Reading<number>, limited: Reading<number>): Reading<number> {
  if ('value' in limited || ('value' in any && any.value === 0)) return any;
  return { allowed: limited.allowed.replace(/^a duration such/, '0s, or a duration such') };
}

/** `boolean` reads true or false. */
export const boolean: Kind<boolean> = {
  name: 'boolean',
  fromText(text) {
    if (text === 'true' || text === '1') return { value: true };
    if (text === 'false' || text === '0') return { value: false };
    return { allowed: 'true or false' };
  },
  fromCode: (given) => (typeof given === 'boolean' ? { value: given } : { allowed: 'true or false' }),
  format: String,
};

function wholeUpTo(most: number, allowed: string): (given: unknown) => Reading<number> {
  return (given) =>
    typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= most
      ? { value: positive(given) }
      : { allowed };
}

const secondsAllowed = 'a whole number of seconds from 0 to 2000000';
const secondsInRange = wholeUpTo(2_000_000, secondsAllowed);

/** `seconds` reads a duration in the form of the pod specification: a whole number of seconds without a unit. */
export const seconds: Kind<number> = {
  name: 'seconds',
  fromText(text) {
    if (/^\d+$/.test(text)) return secondsInRange(Number(text));
    const inSeconds = (parseDuration(text) ?? NaN) / 1_000;
    if (!('value' in secondsInRange(inSeconds))) return { allowed: secondsAllowed };
    return { allowed: `a whole number of seconds, without a unit; did you mean ${String(inSeconds)}?` };
  },
  fromCode: secondsInRange,
  format: (value) => `${String(value)}s`,
};

const countAllowed = 'a whole number from 0 (off) to 1000000';
const countInRange = wholeUpTo(1_000_000, countAllowed);

/** `count` reads the highest allowed number of something, such as requests in flight. 0 means no limit. */
export const count: Kind<number> = {
  name: 'count',
  fromText: (text) => (/^\d+$/.test(text) ? countInRange(Number(text)) : { allowed: countAllowed }),
  fromCode: countInRange,
  format: String,
};

const portAllowed = 'a TCP port from 1 to 65535, or the word off';
const portInRange = wholeUpTo(65_535, portAllowed);

/** `port` reads a TCP port. 0 means that no port is opened. */
export const port: Kind<number> = {
  name: 'port',
  fromText(text) {
    if (text === 'off' || text === '') return { value: 0 };
    return /^\d{1,5}$/.test(text) ? portInRange(Number(text)) : { allowed: portAllowed };
  },
  fromCode: (given) => (given === 'off' ? { value: 0 } : portInRange(given)),
  format: (value) => (value === 0 ? 'off' : String(value)),
};

const hostAllowed = 'an IP address such as 0.0.0.0 or ::1';

/** The kind `host` accepts the IP address on which a server listens. */
export const host: Kind<string | undefined> = {
  name: 'host',
  fromText: (text) => (isIP(text) !== 0 ? { value: text } : { allowed: hostAllowed }),
  fromCode(given) {
    return typeof given === 'string' ? this.fromText(given) : { allowed: hostAllowed };
  },
  format: String,
};

const chanceAllowed = 'a number from 0 (off) to 0.02';

/**
 * `chance` reads a probability from 0 to 0.02. The maximum is that of the apiserver's flag `--goaway-chance`.
 */
export const chance: Kind<number> = {
  name: 'chance',
  fromText: (text) => (/^\d*\.?\d+$/.test(text) ? chanceInRange(Number(text)) : { allowed: chanceAllowed }),
  fromCode: chanceInRange,
  format: String,
};

function chanceInRange(given: unknown): Reading<number> {
  return typeof given === 'number' && given >= 0 && given <= 0.02
    ? { value: positive(given) }
    : { allowed: chanceAllowed };
}

const pathAllowed = 'a path such as /metrics that is not a probe path, or the word off';

/** `path` reads the path of an endpoint of lameduck. An empty text means that there is no endpoint. */
export const path: Kind<string> = {
  name: 'path',
  fromText(text) {
    if (text === 'off' || text === '') return { value: '' };
    const isPath = /^(\/[A-Za-z0-9._~-]+)+$/.test(text) && !/^\/(readyz|livez|healthz)(\/|$)/i.test(text);
    return isPath ? { value: text } : { allowed: pathAllowed };
  },
  fromCode(given) {
    return typeof given === 'string' ? this.fromText(given) : { allowed: pathAllowed };
  },
  format: (value) => (value === '' ? 'off' : value),
};

const fileAllowed = 'an absolute path of a file such as /dev/termination-log, or the word off';

/** `file` reads the path of a file. An empty text means that there is no file. */
export const file: Kind<string> = {
  name: 'file',
  fromText(text) {
    if (text === 'off' || text === '') return { value: '' };
    return /^\/[^\0]*[^\0/]$/.test(text) ? { value: text } : { allowed: fileAllowed };
  },
  fromCode(given) {
    return typeof given === 'string' ? this.fromText(given) : { allowed: fileAllowed };
  },
  format: (value) => path.format(value),
};

const logFileAllowed = 'an absolute path of a file such as /var/log/audit.log, - for standard output, or the word off';

/** logFile reads the path of a log file, or `-` for standard output. An empty text means that nothing is written. */
export const logFile: Kind<string> = {
  name: 'log file',
  fromText(text) {
    const reading = text === '-' ? { value: text } : file.fromText(text);
    return 'value' in reading ? reading : { allowed: logFileAllowed };
  },
  fromCode(given) {
    return typeof given === 'string' ? this.fromText(given) : { allowed: logFileAllowed };
  },
  format: (value) => path.format(value),
};

/** `choice()` returns a kind of setting that accepts only the given words. The name of the kind lists these words. */
export function choice<Word extends string>(...words: readonly Word[]): Kind<Word> {
  const allowed = words.join(' or ');
  const isWord = (given: unknown): given is Word => words.some((word) => word === given);
  const read = (given: unknown): Reading<Word> => (isWord(given) ? { value: given } : { allowed });
  return { name: allowed, fromText: read, fromCode: read, format: String };
}

// Signals that cannot begin a shutdown. A process cannot catch SIGKILL and SIGSTOP. After each of the other signals in
// this list, a process cannot continue (P-069).
const neverHooked = new Set(['SIGKILL', 'SIGSTOP', 'SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGPIPE', 'SIGPROF']);

const processSignalsAllowed = 'one or more of the process signals that a program can catch, such as SIGTERM,SIGINT';

/**
 * processSignals reads the value of a setting that is a list of process signals. A signal that a program cannot catch
 * is invalid.
 */
export const processSignals: Kind<readonly NodeJS.Signals[]> = {
  name: 'process signals',
  fromText(text) {
    return this.fromCode(text.split(',').map((name) => name.trim()));
  },
  fromCode(given) {
    if (typeof given === 'string') return this.fromText(given);
    // Copy the list, because `every` skips missing elements of a sparse array. In the copy, these elements are
    // undefined.
    const names: unknown[] = Array.isArray(given) ? [...(given as unknown[])] : [];
    if (names.length === 0 || !names.every(isCatchable)) return { allowed: processSignalsAllowed };
    return { value: Object.freeze([...new Set(names)]) };
  },
  format: (value) => value.join(','),
};

function isCatchable(name: unknown): name is NodeJS.Signals {
  return typeof name === 'string' && name in constants.signals && !neverHooked.has(name);
}

/**
 * functionAllowed checks the value of an option that must be a function. It returns undefined for a function. For any
 * other value, it returns a text that says what is expected.
 */
export function functionAllowed(given: unknown): string | undefined {
  return typeof given === 'function' ? undefined : 'a function';
}
