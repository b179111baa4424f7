// Detects that the process runs on a developer's machine, where a restart must be fast.
import type { Cluster } from 'node:cluster';
import { isatty } from 'node:tty';
import type { Environment } from '../settings/environment.ts';
import { parentCommand } from './launcher.ts';

/** Launch describes how a process was started. It does not contain the environment variables of the process. */
export interface Launch {
  readonly execArgv: readonly string[];
  /** hasTerminal tells whether standard input is a terminal. */
  readonly hasTerminal: boolean;
  /** hasChannel tells whether the parent process opened an IPC channel to this process. */
  readonly hasChannel: boolean;
  /** isClusterWorker tells whether the process is a worker of `node:cluster`. */
  readonly isClusterWorker: boolean;
  /** `parent` is the command line of the parent process. It is undefined if that command line cannot be read. */
  readonly parent: readonly string[] | undefined;
}

// Matches `tsx` or `ts-node` as a word of a path or of a package name.
const loader = /(?:^|[/\\@])(?:tsx|ts-node)(?=$|[/\\@])/;

// Matches the path of a file watcher that opens an IPC channel to the process. An IPC channel alone does not prove that
// a watcher started the process. Programs in production also start servers with an IPC channel.
const watcher = /(?:^|[/\\])(?:nodemon|node-dev|ts-node-dev|tsnd|tsx)(?=$|[/\\.])/;

/**
 * isDevelopment tells whether a watcher, a TypeScript runner or a terminal started this process. It is always false in
 * a cluster, with `NODE_ENV=production` and under PM2.
 */
export function isDevelopment(environment: Environment, launch: Launch = ownLaunch()): boolean {
  const isSet = (name: string): boolean => (environment[name] ?? '') !== '';
  // PM2 sets `pm_id` in each process. PM2 starts production processes with an IPC channel and without NODE_ENV, so
  // these two facts do not prove development.
  if (isSet('KUBERNETES_SERVICE_HOST') || environment['NODE_ENV'] === 'production' || isSet('pm_id')) return false;
  if (isSet('WATCH_REPORT_DEPENDENCIES') || launch.hasTerminal) return true;
  if (launch.execArgv.some((argument) => loader.test(argument))) return true;
  if (!launch.hasChannel || launch.isClusterWorker) return false;
  // Outside Linux, the parent process is unknown. A process with an IPC channel then counts as a process on a
  // developer's machine, because nearly every such process is one.
  return environment['NODE_ENV'] === 'development' || (launch.parent?.some((one) => watcher.test(one)) ?? true);
}

function ownLaunch(): Launch {
  const hasChannel = process.channel !== undefined;
  return {
    execArgv: process.execArgv,
    // Use `isatty` instead of `process.stdin.isTTY`. Reading `process.stdin` would open standard input as a stream and
    // keep its file descriptor open.
    hasTerminal: isatty(0),
    hasChannel,
    // Load node:cluster only if there is an IPC channel. A worker has such a channel and has already loaded the module.
    isClusterWorker: hasChannel && (process.getBuiltinModule('node:cluster') as unknown as Cluster).isWorker,
    parent: hasChannel ? parentCommand() : [],
  };
}
