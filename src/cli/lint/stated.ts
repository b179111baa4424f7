// Reads the times that a container's manifest states: in its preStop hook, and in the variables and flags that set
// timeouts of known programs. No side effects.
import { parseDuration } from '../../settings/duration.ts';
import { objects, type Path } from '../manifest/fields.ts';
import type { Container } from './inventory.ts';

/** Stated is a time that the manifest sets for a container, together with the field that sets the time. */
export interface Stated {
  readonly seconds: number;
  /** `path` is the path of the manifest field that sets the time. It begins at the specification of the container. */
  readonly path: Path;
  /** `name` is the name of the environment variable, command-line flag or hook that sets the time. */
  readonly name: string;
}

/**
 * Meaning says what a timeout setting of a program limits. `delay`: how long the program still accepts connections
 * during its shutdown. `drain`: how long requests in flight may take after the delay. `request`: how long any request
 * may take. `keepAlive`: how long an idle connection stays open.
 */
type Meaning = 'delay' | 'drain' | 'request' | 'keepAlive';

/** lameduckMargin is the time in seconds that lameduck reserves for the exit of the process (P-075). */
export const lameduckMargin = 2;

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
  LAMEDUCK_REQUEST_TIMEOUT: { meaning: 'request', read: duration },
  LAMEDUCK_KEEP_ALIVE_TIMEOUT: { meaning: 'keepAlive', read: duration },
  SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE: { meaning: 'drain', read: springDuration },
};

interface Flag extends Source {
  /**
   * `program` matches a command line only if the program on this command line knows the flag with this meaning. Another
   * program may give another meaning to a flag with the same name.
   */
  readonly program: RegExp;
}

const flags: Readonly<Record<string, Flag>> = {
  '--shutdown-delay-duration': { meaning: 'delay', read: duration, program: /./ },
  '--timeout-graceful-shutdown': { meaning: 'drain', read: wholeSeconds, program: /\buvicorn\b/ },
  '--timeout-keep-alive': { meaning: 'keepAlive', read: wholeSeconds, program: /\buvicorn\b/ },
  '--graceful-timeout': { meaning: 'drain', read: wholeSeconds, program: /\b(gunicorn|hypercorn)\b/ },
  '--keep-alive': { meaning: 'keepAlive', read: wholeSeconds, program: /\b(gunicorn|hypercorn)\b/ },
};

/**
 * statedTime returns one time limit that the manifest sets for a container, such as the limit of the drain. It returns
 * undefined if the manifest does not set this limit.
 */
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

/**
 * statedVariable returns the time in an environment variable of a container. It returns undefined if the variable is
 * missing or has no literal value.
 */
export function statedVariable({ fields }: Container, name: string, read: Read = wholeSeconds): Stated | undefined {
  const env = objects(fields['env']);
  // If the field `env` has several entries for a variable, the last of these entries takes effect.
  const index = env.findLastIndex((one) => one['name'] === name);
  const value = env[index]?.['value'];
  const found = typeof value === 'string' ? read(value) : undefined;
  return found === undefined ? undefined : { seconds: found, path: ['env', index, 'value'], name };
}

/** durationVariable returns the time in an environment variable whose value is a duration such as `10s`. */
export function durationVariable(container: Container, name: string): Stated | undefined {
  return statedVariable(container, name, duration);
}

/**
 * drainLimit returns the longest time for which a container waits for requests in flight. If the manifest does not
 * state this time, drainLimit computes it for lameduck. It subtracts the times of the preStop hook, the shutdown delay,
 * the destroy hooks and the exit from the grace period. Options in the code of the program can only shorten the
 * computed time (P-075).
 */
export function drainLimit(container: Container): Stated | undefined {
  const stated = statedTime(container, 'drain');
  const grace = statedVariable(container, 'LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS');
  const delay = durationVariable(container, 'LAMEDUCK_SHUTDOWN_DELAY_DURATION');
  if (stated !== undefined || grace === undefined || delay === undefined) return stated;
  const preStop = statedVariable(container, 'LAMEDUCK_PRE_STOP_SECONDS') ?? preStopSleep(container);
  const hooks = durationVariable(container, 'LAMEDUCK_DESTROY_HOOK_TIMEOUT');
  const others = [preStop, delay, hooks].reduce((sum, part) => sum + (part?.seconds ?? 0), lameduckMargin);
  return grace.seconds > others ? { ...grace, seconds: grace.seconds - others } : undefined;
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

/** preStopSleep returns how long a preStop hook sleeps before it does anything else. */
export function preStopSleep({ spec: { preStop } }: Container): Stated | undefined {
  const path = ['lifecycle', 'preStop'];
  if (preStop?.kind === 'sleep')
    return { seconds: preStop.seconds, path: [...path, 'sleep', 'seconds'], name: 'preStop' };
  if (preStop?.kind !== 'exec') return undefined;
  const found = sleepOf(preStop.command);
  return found === undefined ? undefined : { seconds: found, path: [...path, 'exec', 'command'], name: 'preStop' };
}

// Returns the duration of a command such as `sleep 15`, or of a shell script that begins with this command.
function sleepOf(command: readonly string[]): number | undefined {
  const [program = '', ...rest] = command;
  const [, script] = isShell(program) && /^-[a-z]*c$/.test(rest[0] ?? '') ? rest : [];
  const words = script ?? command.join(' ');
  const [, amount] = /^\s*(?:exec\s+)?(?:\/(?:usr\/)?bin\/)?sleep\s+([\d.]+[smh]?)\s*(?:$|;|&&|\n)/.exec(words) ?? [];
  if (amount === undefined) return undefined;
  return seconds(parseDuration(/[smh]$/.test(amount) ? amount : `${amount}s`));
}

/** isShell tells whether a program is a shell, such as /bin/sh. */
export function isShell(program: string): boolean {
  return /^(?:\S*\/)?(?:ba|da|a|k|z)?sh$/.test(program);
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1_000;
}
