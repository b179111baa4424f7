// The program that started this process: some launchers never pass SIGTERM on.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Environment } from '../settings/environment.ts';

let hasWarned = false;

/**
 * launcherWarning returns a warning if a shell or a package manager started this process, since it receives the process
 * signals first (P-065). It returns the warning once in a process, and undefined from then on.
 */
export function launcherWarning(environment: Environment): string | undefined {
  if (hasWarned) return undefined;
  const warning = describeLauncher(parentCommand(), environment);
  hasWarned = warning !== undefined;
  return warning;
}

const advice = 'in a container start node itself';

/** describeLauncher is launcherWarning for the parent's command line; undefined stands for one that cannot be read. */
export function describeLauncher(parent: readonly string[] | undefined, environment: Environment): string | undefined {
  const script = environment['npm_lifecycle_event'];
  const manager = (environment['npm_config_user_agent'] ?? 'npm').split('/', 1)[0] as string;
  const command = script === undefined ? undefined : `"${manager} run ${script}"`;
  if (parent !== undefined && isShell(parent)) {
    // A shell either handles a process signal only after its child has ended, or dies of the signal while its child runs on.
    // npm passes SIGTERM on to the shell that it runs a script with, and that shell does not pass it on.
    const by = command === undefined ? '' : ` by ${command}`;
    return `started through a shell${by}, which keeps process signals to itself: ${advice}, or with the shell's exec`;
  }
  // Every descendant of a script inherits its variables, but the manager passes signals to its direct child only. So the
  // parent decides, and the variables only where the parent cannot be read, as outside Linux.
  if (parent === undefined ? command === undefined : !isPackageManager(parent)) return undefined;
  return `started by ${command ?? manager}, whose version and shell decide whether process signals get here: ${advice}`;
}

function isShell([command = '', first = '']: readonly string[]): boolean {
  const runsSomething = /^-\w*c$|^[^-]/;
  return /^-?(a|ba|da|k|z)?sh$/.test(basename(command)) && runsSomething.test(first);
}

// npm overwrites its command line with its title. The other managers are scripts that node runs.
function isPackageManager([command = '', script = '']: readonly string[]): boolean {
  const name = /^(bun|npm|npx|pnpm|pnpx|yarn)([-.].*)?$/;
  const program = basename(command.split(' ', 1)[0] as string);
  return name.test(program) || (program === 'node' && name.test(basename(script)));
}

/** parentCommand returns the command line of the parent process; undefined if it cannot be read, as outside Linux. */
export function parentCommand(): string[] | undefined {
  // The first process of a container has no parent.
  if (process.ppid === 0) return [];
  try {
    return readFileSync(`/proc/${String(process.ppid)}/cmdline`, 'utf8').split('\0');
  } catch {
    return undefined;
  }
}
