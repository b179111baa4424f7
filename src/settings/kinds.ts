// The kinds of value that a setting can have: how each is read from text and from code, and what it says is allowed.
import { constants } from 'node:os';
import { formatDuration, parseDuration } from './duration.ts';

/** Reading is a value, or what is allowed instead. */
export type Reading<Value> = { readonly value: Value } | { readonly allowed: string };

/** Kind reads one sort of value. Text comes from the environment; anything else from code. */
export interface Kind<Value> {
  readonly name: string;
  fromText(text: string): Reading<Value>;
  fromCode(given: unknown): Reading<Value>;
  format(value: Value): string;
}

// setTimeout's largest delay; a longer one would fire at once.
const longestTimer = 2 ** 31 - 1;

const durationAllowed = 'a duration such as 15s or 1m30s, from 0s to 596h';

/** duration is a length of time, in milliseconds. */
export const duration: Kind<number> = {
  name: 'duration',
  fromText(text) {
    const milliseconds = parseDuration(text);
    if (milliseconds !== undefined) return durationInRange(milliseconds);
    if (/^\d+(\.\d+)?$/.test(text)) return { allowed: `a duration with its unit; did you mean ${text}s?` };
    return { allowed: durationAllowed };
  },
  fromCode(given) {
    if (typeof given === 'number') return durationInRange(given);
    return typeof given === 'string' ? this.fromText(given) : { allowed: `${durationAllowed}, or milliseconds` };
  },
  format: formatDuration,
};

function durationInRange(milliseconds: number): Reading<number> {
  return milliseconds >= 0 && milliseconds <= longestTimer ? { value: milliseconds } : { allowed: durationAllowed };
}

/** limit is a duration in which something has to be done, of at least 1ms. */
export const limit: Kind<number> = {
  ...duration,
  fromText: (text) => atLeast1ms(duration.fromText(text)),
  fromCode: (given) => atLeast1ms(duration.fromCode(given)),
};

function atLeast1ms(reading: Reading<number>): Reading<number> {
  return 'value' in reading && reading.value < 1 ? { allowed: 'a duration of at least 1ms' } : reading;
}

/** boolean is true or false. */
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

const secondsAllowed = 'a whole number of seconds from 0 to 2000000';

/** seconds is a length of time as the pod's own fields give it: a whole number without unit. */
export const seconds: Kind<number> = {
  name: 'seconds',
  fromText: (text) => (/^\d+$/.test(text) ? secondsInRange(Number(text)) : { allowed: secondsAllowed }),
  fromCode: (given) => secondsInRange(given),
  format: (value) => `${String(value)}s`,
};

function secondsInRange(given: unknown): Reading<number> {
  return typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= 2_000_000
    ? { value: given }
    : { allowed: secondsAllowed };
}

// The first two cannot be caught; after the others a process cannot go on (P-069).
const neverHooked = new Set(['SIGKILL', 'SIGSTOP', 'SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGPIPE', 'SIGPROF']);

const processSignalsAllowed = 'one or more of the process signals that a program can catch, such as SIGTERM,SIGINT';

/** processSignals is a list of process signals that a program can catch. */
export const processSignals: Kind<readonly NodeJS.Signals[]> = {
  name: 'process signals',
  fromText(text) {
    return this.fromCode(text.split(',').map((name) => name.trim()));
  },
  fromCode(given) {
    if (typeof given === 'string') return this.fromText(given);
    if (!Array.isArray(given) || given.length === 0) return { allowed: processSignalsAllowed };
    return given.every(isCatchable)
      ? { value: Object.freeze([...new Set(given)]) }
      : { allowed: processSignalsAllowed };
  },
  format: (value) => value.join(','),
};

function isCatchable(name: unknown): name is NodeJS.Signals {
  return typeof name === 'string' && name in constants.signals && !neverHooked.has(name);
}
