// The log: one line for each event, on standard output or through the program's own logger.
import type { LineLevel, LogFormat, LogLevel } from '../settings/log-level.ts';
import type { Observer, PreviousRun } from '../observer.ts';
import { flushOf } from './flush.ts';
import { checkRead, createLineWriter, lineText } from './line-writer.ts';
import { fromLevel, quiet, type Logger } from './logger.ts';
import { startDetails, type StartReport } from './start-line.ts';

/**
 * Logging is the Observer that writes the log. It also logs the events of the process, of the probe port and of the
 * checkpoint.
 */
export interface Logging extends Observer, ProcessLines, ProbePortLines, CheckpointLines {
  /**
   * onAuditFailure is called once, when an event cannot be written to the audit log. The program continues to serve
   * requests.
   */
  onAuditFailure(auditLogPath: string, error: Error): void;
  onStart(report: StartReport): void;
  /** onError logs the invalid settings of a program under `lameduck/register`. The program starts nevertheless. */
  onError(message: string): void;
  /** `log` is the logger for events for which Logging has no method. */
  readonly log: Logger;
  /**
   * `flushed()` flushes the log. It returns, or its promise resolves, when every line has been written. If lines cannot
   * be written, it throws, rejects or hangs. If the logger cannot be flushed, `flushed` is undefined.
   */
  readonly flushed: (() => unknown) | undefined;
}

interface ProcessLines {
  onUncaughtError(error: unknown): void;
  /**
   * onListenersHeld is called when lameduck delays the program's own listeners for a process signal until the shutdown
   * has ended.
   */
  onListenersHeld(signal: string, count: number): void;
  /**
   * onHeldOpen is called when lameduck must exit the process, because resources keep the event loop alive. `heldBy`
   * lists these resources.
   */
  onHeldOpen(heldBy: readonly string[]): void;
}

interface ProbePortLines {
  onProbePort(address: string): void;
  /**
   * onProbePortYield is called if the lifecycle of `lameduck/register` does not use its probe port, because a lifecycle
   * in the program's code uses it.
   */
  onProbePortYield(probePort: number): void;
  /**
   * onProbeThreadFailure is called once, when the probe thread has stopped because of an error. From then on, the main
   * thread serves the probe port.
   */
  onProbeThreadFailure(error: unknown): void;
  /**
   * onProbePortFailure is called once, when the process cannot listen on the configured probe port. The program
   * continues to serve requests.
   */
  onProbePortFailure(error: Error): void;
  onDebugSocket(path: string): void;
  /**
   * onDebugSocketFailure is called once, when the process cannot listen on the configured debug socket. The program
   * continues to serve requests.
   */
  onDebugSocketFailure(path: string, error: Error): void;
  /**
   * onDebugSocketRequest is called for each request on the debug socket that begins a shutdown or changes readiness.
   */
  onDebugSocketRequest(action: string): void;
  /**
   * The main thread calls onStallEnd when its event loop is no longer blocked. The probe thread has already logged the
   * beginning of the stall, because a blocked main thread cannot log.
   */
  onStallEnd(stalledMs: number): void;
}

interface CheckpointLines {
  onPreviousRun(run: PreviousRun): void;
  /** onPreviousRunUnknown is called if the checkpoint has no valid record of this pod. */
  onPreviousRunUnknown(checkpointPath: string, error: Error): void;
  /**
   * onCheckpointFailure is called once, when the configured checkpoint file cannot be written. The program continues to
   * serve requests.
   */
  onCheckpointFailure(checkpointPath: string, error: Error): void;
}

export interface LogSettings {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/**
 * createLogging creates the log. The log writes to `given`, the program's logger, or to standard output if the program
 * has passed none. `signalLevel` is the level of the lines about lifecycle signals.
 */
export function createLogging(
  given: Logger | undefined,
  { logLevel, logFormat }: LogSettings,
  signalLevel: 'info' | 'debug' = 'info',
): Logging {
  const logger = logLevel === 'silent' ? quiet : given;
  const output = createLineWriter(logFormat);
  const all: Logger = logger === undefined ? output : withFallback(logger, output);
  const log = fromLevel(all, logLevel);
  let hasEnded = false;
  return {
    log,
    onStart({ budgetSum, ...report }) {
      const message = `lifecycle started: ${budgetSum}`;
      const bytesOf = (details: object): number => Buffer.byteLength(lineText(logFormat, 'info', details, message));
      log.info(startDetails(report, bytesOf), message);
    },
    onWarning(message, details = {}) {
      log.warn(details, message);
    },
    onError(message) {
      log.error({}, message);
    },
    onSignal(event) {
      const isBeforeShutdown = event.name === 'MuxAndDiscoveryComplete' || event.name === 'HasBeenReady';
      log[signalLevel]?.(event, isBeforeShutdown ? 'lifecycle event' : 'shutdown event');
    },
    ...hookLines(log),
    onCheckChange(endpoint, check, reason) {
      // After the final line, do not log failing checks. A destroy hook may have closed a resource that a check tests,
      // such as a database connection. The check then fails although nothing is wrong.
      if (hasEnded) return;
      if (reason === undefined) log.info({ endpoint, check }, 'check passes again');
      else log.warn({ endpoint, check, reason: reason.message }, 'check fails');
    },
    // Do not log each result of a health check. `onCheckChange` logs when a check begins to fail or passes again.
    onCheckResult: () => undefined,
    onUnfinished(requests) {
      for (const request of requests) {
        const { ageMs, peer, unacknowledgedBytes, isEventStream } = request;
        if (unacknowledgedBytes !== undefined) {
          log.error({ peer, unacknowledgedBytes, ageMs }, 'response not acknowledged');
          continue;
        }
        log.error(
          isEventStream === true ? { ...request, hint: eventStreamHint } : request,
          'request without an answer',
        );
      }
    },
    ...processLines(log),
    ...probePortLines(log),
    ...checkpointLines(log),
    onAuditFailure(auditLogPath, error) {
      log.error({ auditLogPath, err: error }, 'audit log failed');
    },
    onEnd(record) {
      hasEnded = true;
      // Log the final line at every level except `silent`. After a pod is deleted, this line is the only record of its
      // shutdown.
      all[record.exitCode === 0 ? 'info' : 'error'](record, 'shutdown ended');
      all.flush?.();
    },
    flushed: logger === undefined ? checkRead.bind(undefined, output) : flushOf(logger),
  };
}

function processLines(log: Logger): ProcessLines {
  return {
    onUncaughtError(error) {
      log.error({ err: error }, 'uncaught error');
    },
    onListenersHeld(signal, count) {
      log.info({ signal, count, ownSignalListeners: 'hold', hint: heldHint }, 'own signal listeners held');
    },
    onHeldOpen(heldBy) {
      log.warn({ heldBy }, 'event loop not empty');
    },
  };
}

// A hint for programs that stop child processes or queue workers in a listener of a shutdown signal. By default,
// lameduck calls such a listener only after the drain.
const heldHint =
  'set LAMEDUCK_OWN_SIGNAL_LISTENERS=run if a signal listener of your program forwards the signal to child processes or stops a queue worker';

// This hint is for GraphQL over server-sent events. GraphQL clients open an event stream with POST and reconnect on
// their own.
const eventStreamHint =
  'if the client of this event stream reconnects on its own, as GraphQL clients do, set LAMEDUCK_EVENT_STREAMS=all';

function hookLines(log: Logger): Pick<Observer, 'onHookEnd' | 'onHookFailure' | 'onStepFailure'> {
  return {
    onHookEnd(end) {
      log.debug?.(end, 'hook ended');
    },
    onHookFailure({ kind, name, error }) {
      log.error({ kind, name, err: error }, 'hook failed');
    },
    onStepFailure({ step, error }) {
      log.error({ step, err: error }, 'shutdown step failed');
    },
  };
}

function probePortLines(log: Logger): ProbePortLines {
  return {
    onProbePort(address) {
      log.info({ address }, 'probe port listens');
    },
    onProbePortYield(probePort) {
      log.info({ probePort }, 'probe port passed to the lifecycle that the program created');
    },
    onProbeThreadFailure(error) {
      log.warn({ err: error }, 'probe thread failed');
    },
    onProbePortFailure(error) {
      log.error({ err: error }, 'probe port failed');
    },
    onDebugSocket(path) {
      log.info({ path }, 'debug socket listens');
    },
    onDebugSocketFailure(path, error) {
      log.warn({ path, err: error }, 'debug socket failed');
    },
    onDebugSocketRequest(action) {
      log.info({ action }, 'debug socket request');
    },
    onStallEnd(stalledMs) {
      log.warn({ stalledMs }, 'event loop no longer blocked');
    },
  };
}

function checkpointLines(log: Logger): CheckpointLines {
  return {
    onPreviousRun({ outcome, ...facts }) {
      const [level, message] = previousRuns[outcome];
      log[level](facts, message);
    },
    onPreviousRunUnknown(checkpointPath, error) {
      log.warn({ checkpointPath, err: error }, previousRuns.unknown[1]);
    },
    onCheckpointFailure(checkpointPath, error) {
      log.warn({ checkpointPath, err: error }, 'checkpoint failed');
    },
  };
}

const previousRuns = {
  clean: ['info', 'previous run ended cleanly'],
  failed: ['warn', 'previous run failed'],
  killed: ['warn', 'previous run was killed'],
  never_ready: ['warn', 'previous run never became ready'],
  none: ['info', 'no previous run'],
  unknown: ['warn', 'previous run unknown'],
} as const;

// Wraps the program's logger. If the logger throws, the line is written to standard output, and the shutdown continues.
function withFallback(logger: Logger, output: ReturnType<typeof createLineWriter>): Logger {
  const attempt = (log: () => unknown, fallback: () => void): void => {
    try {
      const outcome = log();
      // The logger's method may be asynchronous and reject. Handle the rejection, because an unhandled rejection would
      // end the program.
      if (outcome instanceof Promise) outcome.catch(fallback);
    } catch {
      fallback();
    }
  };
  const level = (name: LineLevel) => (details: object, message: string) => {
    attempt(
      () => logger[name]?.(details, message),
      () => {
        output[name](details, message);
      },
    );
  };
  return {
    debug: level('debug'),
    info: level('info'),
    warn: level('warn'),
    error: level('error'),
    flush: () => {
      attempt(
        () => logger.flush?.(),
        () => undefined,
      );
    },
  };
}

/** `silent` is an Observer that ignores all events. */
export const silent: Observer = {
  onWarning: () => undefined,
  onSignal: () => undefined,
  onHookEnd: () => undefined,
  onHookFailure: () => undefined,
  onStepFailure: () => undefined,
  onCheckChange: () => undefined,
  onCheckResult: () => undefined,
  onUnfinished: () => undefined,
  onEnd: () => undefined,
};
