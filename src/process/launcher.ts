// Detects launchers that may not forward SIGTERM to this process.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Environment } from '../settings/environment.ts';
import { thisProcess } from './this-process.ts';

/**
 * launcherWarning returns a warning if a shell or a package manager started this process. Such a launcher receives the
 * process signals first (P-065). The function returns the warning only once in a process.
 */
export function launcherWarning(environment: Environment): string | undefined {
  const end = thisProcess();
  if (end.hasWarnedOfLauncher) return undefined;
  const warning = describeLauncher(parentCommand(), environment);
  end.hasWarnedOfLauncher = warning !== undefined;
  return warning;
}

const advice = 'in a container, start node itself';

/**
 * describeLauncher returns the warning about the launcher with the command line `parent`. `parent` is undefined if the
 * command line cannot be read.
 */
export function describeLauncher(parent: readonly string[] | undefined, environment: Environment): string | undefined {
  const script = environment['npm_lifecycle_event'];
  const manager = (environment['npm_config_user_agent'] ?? 'npm').split('/', 1)[0] as string;
  const command = script === undefined ? undefined : `"${manager} run ${script}"`;
  if (parent !== undefined && isShell(parent)) {
    // A shell may handle a process signal only after its child process has ended. Or the signal ends the shell, and the
    // child process continues. npm forwards SIGTERM to the shell of its script, but this shell does not forward the
    // signal.
    const by = command === undefined ? '' : ` by ${command}`;
    return `started through a shell${by}, which does not forward process signals: ${advice}, or use the shell's exec`;
  }
  // Every descendant of a package manager's script inherits the variables of the script, but the package manager
  // forwards signals only to its direct child. So use the variables only if the command line of the parent cannot be
  // read, as outside Linux.
  if (parent === undefined ? command === undefined : !isPackageManager(parent)) return undefined;
  return `started by ${command ?? manager}, which forwards process signals to this process only in some versions of the package manager and with some shells: ${advice}`;
}

function isShell([command = '', first = '']: readonly string[]): boolean {
  const runsSomething = /^-\w*c$|^[^-]/;
  return /^-?(a|ba|da|k|z)?sh$/.test(basename(command)) && runsSomething.test(first);
}

// Tells whether a command line belongs to a package manager. npm overwrites its command line with a title that begins
// with `npm`. bun is an executable. The other package managers are scripts that Node runs.
function isPackageManager([command = '', script = '']: readonly string[]): boolean {
  const name = /^(bun|npm|npx|pnpm|pnpx|yarn)([-.].*)?$/;
  const program = basename(command.split(' ', 1)[0] as string);
  return name.test(program) || (program === 'node' && name.test(basename(script)));
}

/**
 * parentCommand returns the command line of the parent process. It returns undefined if the command line cannot be
 * read, as outside Linux.
 */
export function parentCommand(): string[] | undefined {
  // The first process of a container has no parent process, so nothing has launched it.
  if (process.ppid === 0) return [];
  try {
    return readFileSync(`/proc/${String(process.ppid)}/cmdline`, 'utf8').split('\0');
  } catch {
    return undefined;
  }
}
