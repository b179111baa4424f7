// `lameduck stop`: a preStop hook for a container whose main process does not forward SIGTERM, such as `npm start` or
// `sh -c`. It sends the signal to the process that listens on the probe port, and waits until that process has exited.
import { systemClock } from '../clock.ts';
import { sendSignal } from '../process/send-signal.ts';
import { valueOf, type Environment } from '../settings/environment.ts';
import { formatDuration } from '../settings/duration.ts';
import { limit, port as portKind, processSignals, seconds, type Kind } from '../settings/kinds.ts';
import { usualProbePort } from '../settings/probe-port.ts';
import { standardError, standardOutput } from '../standard-output.ts';
import { say } from './command.ts';
import { optionLines, readArguments, refuse, type Options } from './options.ts';
import { allProcesses, hasEnded, listenersOf } from './rehearsal/processes.ts';

const options = {
  port: {
    type: 'string',
    value: 'PORT',
    help: 'the probe port of the program; default: LAMEDUCK_PROBE_PORT, else 8081',
  },
  timeout: {
    type: 'string',
    value: 'DURATION',
    help: 'how long to wait until the program has exited; default: LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS, else 30s',
  },
  help: { type: 'boolean', help: 'print this text' },
} as const satisfies Options;

const usage = [
  'Sends the shutdown signal to the process that serves the probe port, and waits until that process has ended.',
  'Use this command as the preStop hook of a container that starts npm, yarn, pnpm or a shell, which may not forward SIGTERM.',
  '',
  'Examples:',
  '  lameduck stop',
  '  lameduck stop --port 8081 --timeout 30s',
  '',
  'Options:',
  ...optionLines(options),
].join('\n');

// Milliseconds between two checks of whether the process has exited.
const pollPeriod = 50;

// The default grace period of a pod, in seconds.
const usualGracePeriod = 30;

const ended = 0;
const failed = 1;

interface Stop {
  readonly port: number;
  readonly signal: NodeJS.Signals;
  /** `timeout` is how long to wait until the process on the probe port has exited, in milliseconds. */
  readonly timeout: number;
}

/**
 * `stop()` resolves with exit code 0 when the process has exited. It resolves with 1 if the process cannot be found or
 * has not exited in time.
 */
export async function stop(args: readonly string[], environment: Environment): Promise<number> {
  const wanted = read(args, environment);
  if (wanted === 'help') {
    say(standardOutput, usage);
    return ended;
  }
  if (typeof wanted === 'string') return refuse('stop', wanted);
  const pids = listening(wanted.port);
  if (pids.length === 0) return fail(absence(wanted.port));
  for (const pid of pids) sendSignal(pid, wanted.signal);
  const names = pids.map((pid) => `process ${String(pid)}`).join(', ');
  if (await areGone(pids, wanted.timeout)) {
    say(standardOutput, `lameduck stop: ${names} exited after ${wanted.signal}`);
    return ended;
  }
  return fail(
    `${names} has not exited within ${formatDuration(wanted.timeout)} after ${wanted.signal}: shorten the drain, or raise terminationGracePeriodSeconds of the pod and LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS`,
  );
}

function fail(problem: string): number {
  say(standardError, `lameduck stop: ${problem}`);
  return failed;
}

/**
 * `read()` parses the arguments and variables. It returns the process to stop, or `help`, or a text that describes the
 * problem.
 */
function read(args: readonly string[], environment: Environment): Stop | string {
  const given = readArguments(args, options);
  if ('problem' in given) return given.problem;
  const { values, positionals } = given;
  if (values['help'] === true) return 'help';
  if (positionals[0] !== undefined) return `expected no argument, got ${JSON.stringify(positionals[0])}`;
  // Reads a setting of lameduck from an environment variable. A command in a preStop hook has the same variables as the
  // container.
  const ofVariable = <Value>(kind: Kind<Value>, variable: string): Value | string | undefined => {
    const text = valueOf(environment, variable);
    return text === undefined ? undefined : readAs(kind, text, variable);
  };
  const ofOption = <Value>(kind: Kind<Value>, name: 'port' | 'timeout'): Value | string | undefined =>
    typeof values[name] === 'string' ? readAs(kind, values[name], `--${name}`) : undefined;

  const probePort = ofOption(portKind, 'port') ?? ofVariable(portKind, 'LAMEDUCK_PROBE_PORT') ?? usualProbePort;
  if (typeof probePort === 'string') return probePort;
  if (probePort === 0) {
    return 'the probe port is off, so the process cannot be found: set LAMEDUCK_PROBE_PORT, or pass a port of the program with --port';
  }
  const signals = ofVariable(processSignals, 'LAMEDUCK_SHUTDOWN_SIGNALS') ?? ['SIGTERM'];
  if (typeof signals === 'string') return signals;
  const timeout = ofOption(limit, 'timeout');
  if (typeof timeout === 'string') return timeout;
  const grace = ofVariable(seconds, 'LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS') ?? usualGracePeriod;
  if (typeof grace === 'string') return grace;
  return { port: probePort, signal: signals[0] as NodeJS.Signals, timeout: timeout ?? grace * 1000 };
}

function readAs<Value>(kind: Kind<Value>, text: string, name: string): Value | string {
  const reading = kind.fromText(text);
  if ('value' in reading) return reading.value;
  return `${name} must be ${reading.allowed}, got ${JSON.stringify(text.slice(0, 100))}`;
}

/** `listening()` returns the processes of this container that listen on a TCP port. */
function listening(wanted: number): number[] {
  const found = listenersOf(allProcesses()).filter(({ pid, port }) => port === wanted && pid !== process.pid);
  return [...new Set(found.map(({ pid }) => pid))];
}

// Explains why no process listens on the probe port. The program may have exited, may not have started, or may belong
// to another user or container. `lameduck stop` cannot distinguish these cases.
function absence(port: number): string {
  if (allProcesses().length === 0)
    return '/proc does not exist, so the process cannot be found: run lameduck stop in a Linux container';
  return `no visible process of this container listens on port ${String(port)}: check LAMEDUCK_PROBE_PORT, that the program has started and uses lameduck, and that the hook runs as the user of the program`;
}

function areGone(pids: readonly number[], timeout: number): Promise<boolean> {
  const deadline = systemClock.now() + timeout;
  return new Promise((resolve) => {
    const look = (): void => {
      const isGone = pids.every(hasEnded);
      if (isGone || systemClock.now() >= deadline) resolve(isGone);
      else systemClock.after(pollPeriod, look);
    };
    look();
  });
}
