// Whether this process runs on a developer's machine. A restart must not wait there.
import type { Cluster } from 'node:cluster';
import { isatty } from 'node:tty';
import type { Environment } from '../settings/environment.ts';
import { parentCommand } from './launcher.ts';

/** Launch is how a process was started, apart from its environment. */
export interface Launch {
  readonly execArgv: readonly string[];
  /** Whether standard input is a terminal. */
  readonly hasTerminal: boolean;
  /** Whether the parent process opened an IPC channel to this one. */
  readonly hasChannel: boolean;
  /** Whether the process is a worker of `node:cluster`. */
  readonly isClusterWorker: boolean;
  /** The command line of the parent process; undefined if it cannot be read. */
  readonly parent: readonly string[] | undefined;
}

// `tsx` and `ts-node` as words of a path or of a package name.
const loader = /(?:^|[/\\@])(?:tsx|ts-node)(?=$|[/\\@])/;

// Watchers that open an IPC channel, as a part of a path. Other programs fork a server in production, too.
const watcher = /(?:^|[/\\])(?:nodemon|node-dev|ts-node-dev|tsnd|tsx)(?=$|[/\\.])/;

/**
 * isDevelopment tells whether a watcher, a TypeScript runner or a terminal started this process. It is false in a cluster,
 * with `NODE_ENV=production` and under PM2, whatever else is true.
 */
export function isDevelopment(environment: Environment, launch: Launch = ownLaunch()): boolean {
  const isSet = (name: string): boolean => (environment[name] ?? '') !== '';
  // PM2 gives each process `pm_id`, and starts production processes with an IPC channel and without NODE_ENV.
  if (isSet('KUBERNETES_SERVICE_HOST') || environment['NODE_ENV'] === 'production' || isSet('pm_id')) return false;
  if (isSet('WATCH_REPORT_DEPENDENCIES') || launch.hasTerminal) return true;
  if (launch.execArgv.some((argument) => loader.test(argument))) return true;
  if (!launch.hasChannel || launch.isClusterWorker) return false;
  // Outside Linux the parent is unknown, and nearly every process is one of a developer.
  return environment['NODE_ENV'] === 'development' || (launch.parent?.some((one) => watcher.test(one)) ?? true);
}

function ownLaunch(): Launch {
  const hasChannel = process.channel !== undefined;
  return {
    execArgv: process.execArgv,
    // `process.stdin.isTTY` would open the stream, and keep the descriptor.
    hasTerminal: isatty(0),
    hasChannel,
    // A worker has a channel, and has loaded the module already.
    isClusterWorker: hasChannel && (process.getBuiltinModule('node:cluster') as unknown as Cluster).isWorker,
    parent: hasChannel ? parentCommand() : [],
  };
}
