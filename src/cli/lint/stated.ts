// The times that a container states: its preStop hook, and the variables and flags by which programs take theirs. Pure.
import { parseDuration } from '../../settings/duration.ts';
import { objects, type Path } from '../manifest/fields.ts';
import type { Container } from './inventory.ts';

/** Stated is a time in seconds, with the place that states it. */
export interface Stated {
  readonly seconds: number;
  /** From the container. */
  readonly path: Path;
  /** The variable, flag or hook. */
  readonly name: string;
}

/**
 * delay: the program still accepts connections. drain: the limit to requests in flight after that. keepAlive: how long an
 * idle connection is kept.
 */
type Meaning = 'delay' | 'drain' | 'keepAlive';

type Read = (text: string) => number | undefined;

const duration: Read = (text) => seconds(parseDuration(text));
const wholeSeconds: Read = (text) => (/^\d+$/.test(text) ? Number(text) : undefined);
const springDuration: Read = (text) =>
  /^\d+$/.test(text) ? Number(text) / 1_000 : seconds(parseDuration(text.replace(/^PT/, '').toLowerCase()));

interface Source {
  readonly meaning: Meaning;
  readonly read: Read;
}

const variables: Readonly<Record<string, Source>> = {
  LAMEDUCK_SHUTDOWN_DELAY_DURATION: { meaning: 'delay', read: duration },
  LAMEDUCK_KEEP_ALIVE_TIMEOUT: { meaning: 'keepAlive', read: duration },
  SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE: { meaning: 'drain', read: springDuration },
};

interface Flag extends Source {
  /** The program has to be named in the command or the arguments, unless the flag is of one program alone. */
  readonly program: RegExp;
}

const flags: Readonly<Record<string, Flag>> = {
  '--shutdown-delay-duration': { meaning: 'delay', read: duration, program: /./ },
  '--timeout-graceful-shutdown': { meaning: 'drain', read: wholeSeconds, program: /\buvicorn\b/ },
  '--timeout-keep-alive': { meaning: 'keepAlive', read: wholeSeconds, program: /\buvicorn\b/ },
  '--graceful-timeout': { meaning: 'drain', read: wholeSeconds, program: /\b(gunicorn|hypercorn)\b/ },
  '--keep-alive': { meaning: 'keepAlive', read: wholeSeconds, program: /\b(gunicorn|hypercorn)\b/ },
};

/** statedTime returns what a container states of a meaning; undefined if it states nothing. */
export function statedTime(container: Container, meaning: Meaning): Stated | undefined {
  for (const [name, source] of Object.entries(variables)) {
    const found = source.meaning === meaning ? statedVariable(container, name, source.read) : undefined;
    if (found !== undefined) return found;
  }
  for (const [name, flag] of Object.entries(flags)) {
    const found = flag.meaning === meaning ? statedFlag(container, name, flag) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** statedVariable returns the time in a variable that the manifest gives as a value. */
export function statedVariable({ fields }: Container, name: string, read: Read = wholeSeconds): Stated | undefined {
  const env = objects(fields['env']);
  // The last of several counts.
  const index = env.findLastIndex((one) => one['name'] === name);
  const value = env[index]?.['value'];
  const found = typeof value === 'string' ? read(value) : undefined;
  return found === undefined ? undefined : { seconds: found, path: ['env', index, 'value'], name };
}

/** durationVariable is statedVariable for a variable that holds a duration. */
export function durationVariable(container: Container, name: string): Stated | undefined {
  return statedVariable(container, name, duration);
}

function statedFlag({ argv, fields }: Container, name: string, { program, read }: Flag): Stated | undefined {
  const line = argv.join(' ');
  if (!program.test(line)) return undefined;
  const value = new RegExp(`(?:^|\\s)${name}[=\\s]([^\\s;&|"']+)`).exec(line)?.[1];
  const found = value === undefined ? undefined : read(value);
  if (found === undefined) return undefined;
  for (const list of ['args', 'command']) {
    const given = fields[list];
    const index = Array.isArray(given) ? given.findIndex((one) => String(one).includes(name)) : -1;
    if (index >= 0) return { seconds: found, path: [list, index], name };
  }
  return undefined;
}

/** preStopSleep returns the time for which a preStop hook sleeps before it does anything else. */
export function preStopSleep({ spec: { preStop } }: Container): Stated | undefined {
  const path = ['lifecycle', 'preStop'];
  if (preStop?.kind === 'sleep')
    return { seconds: preStop.seconds, path: [...path, 'sleep', 'seconds'], name: 'preStop' };
  if (preStop?.kind !== 'exec') return undefined;
  const found = sleepOf(preStop.command);
  return found === undefined ? undefined : { seconds: found, path: [...path, 'exec', 'command'], name: 'preStop' };
}

// `sleep 15`, and a shell that does so first.
function sleepOf(command: readonly string[]): number | undefined {
  const [program = '', ...rest] = command;
  const [, script] = isShell(program) && /^-[a-z]*c$/.test(rest[0] ?? '') ? rest : [];
  const words = script ?? command.join(' ');
  const [, amount] = /^\s*(?:exec\s+)?(?:\/(?:usr\/)?bin\/)?sleep\s+([\d.]+[smh]?)\s*(?:$|;|&&|\n)/.exec(words) ?? [];
  if (amount === undefined) return undefined;
  return seconds(parseDuration(/[smh]$/.test(amount) ? amount : `${amount}s`));
}

/** isShell tells whether a program is a shell. */
export function isShell(program: string): boolean {
  return /^(?:\S*\/)?(?:ba|da|a|k|z)?sh$/.test(program);
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1_000;
}
