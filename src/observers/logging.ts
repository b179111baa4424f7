// The log: one line for each thing that happens, on standard output or through the program's own logger.
import { formatDuration } from '../settings/duration.ts';
import type { LineLevel, LogFormat, LogLevel } from '../settings/log-level.ts';
import type { Observer, PreviousRun } from '../observer.ts';
import { flushOf } from './flush.ts';
import { checkRead, createLineWriter, lineText } from './line-writer.ts';
import { fromLevel, quiet, type Logger } from './logger.ts';
import { startDetails, type StartReport } from './start-line.ts';

/** Logging is the Observer that writes the log, and what else has a line there. */
export interface Logging extends Observer, ProcessLines, ProbePortLines, CheckpointLines {
  /** Called once when events cannot be written to the audit log, and the service goes on. */
  onAuditFailure(auditLogPath: string, error: Error): void;
  onStart(report: StartReport): void;
  /** onError tells what is wrong and does not stop the start. */
  onError(message: string): void;
  /** Where everything else that concerns the process is logged. */
  readonly log: Logger;
  /**
   * flushed is done, or resolves, when everything that was logged has been written; while that cannot be, it throws,
   * rejects or hangs. There is none for a logger that cannot be flushed.
   */
  readonly flushed: (() => unknown) | undefined;
}

interface ProcessLines {
  onUncaughtError(error: unknown): void;
  /** Called at a process signal whose listeners of the program's own wait for the end of the shutdown. */
  onListenersHeld(signal: string, count: number): void;
  /** Called when the process is ended because something keeps its event loop alive. */
  onHeldOpen(heldBy: readonly string[]): void;
}

interface ProbePortLines {
  onProbePort(address: string): void;
  /** Called once when the main thread has to serve the probe port. */
  onProbeThreadFailure(error: unknown): void;
  /** Called once when there is no probe port although there should be, and the service goes on. */
  onProbePortFailure(error: Error): void;
  onDebugSocket(path: string): void;
  /** Called once when there is no debug socket although there should be, and the service goes on. */
  onDebugSocketFailure(path: string, error: Error): void;
  /** Called before a request on the debug socket changes something. */
  onDebugSocketRequest(action: string): void;
  /** The line about its beginning is the probe thread's, since this one was blocked. */
  onStallEnd(stalledMs: number): void;
}

interface CheckpointLines {
  onPreviousRun(run: PreviousRun): void;
  /** Called if the checkpoint has no record of this pod. */
  onPreviousRunUnknown(checkpointPath: string, error: Error): void;
  /** Called once when there is no checkpoint although there should be, and the service goes on. */
  onCheckpointFailure(checkpointPath: string, error: Error): void;
}

/** LogSettings is the settings of the log. */
export interface LogSettings {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** createLogging logs to `given` when there is one, and otherwise writes lines to standard output. */
export function createLogging(given: Logger | undefined, { logLevel, logFormat }: LogSettings): Logging {
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
      log.info(event, isBeforeShutdown ? 'lifecycle event' : 'shutdown event');
    },
    ...hookLines(log),
    onCheckChange(endpoint, check, reason) {
      // During the exit, checks may fail because the destroy hooks have closed their resources.
      if (hasEnded) return;
      if (reason === undefined) log.info({ endpoint, check }, 'check passes again');
      else log.warn({ endpoint, check, reason: reason.message }, 'check fails');
    },
    // The log has only the changes of results.
    onCheckResult: () => undefined,
    onUnfinished(requests) {
      for (const request of requests) {
        const { method, route, ageMs, peer, unacknowledgedBytes, isEventStream } = request;
        if (unacknowledgedBytes !== undefined) {
          log.error({ peer, unacknowledgedBytes, ageMs }, 'response not acknowledged');
          continue;
        }
        const text = `${method} ${route} from ${peer} has had no answer for ${formatDuration(ageMs)}`;
        const hint = isEventStream === true ? eventStreamHint : '';
        log.error(request, `request without an answer: ${text}${hint}`);
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
      // Log the final line at every level except `silent`: after a pod is deleted, this line is the only record of its shutdown.
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
      log.info({ signal, count, ownSignalListeners: 'hold' }, `own signal listeners held${heldHint}`);
    },
    onHeldOpen(heldBy) {
      log.warn({ heldBy }, 'event loop not empty');
    },
  };
}

// Child processes and queues would otherwise begin to stop only after the drain.
const heldHint =
  ' until the drain has ended: set LAMEDUCK_OWN_SIGNAL_LISTENERS=run if one forwards the signal to child processes or stops a' +
  ' queue worker';

// GraphQL over server-sent events sends subscriptions by POST, and its clients reconnect.
const eventStreamHint =
  '; it is an event stream: if its client reconnects on its own, as GraphQL subscriptions over POST do, set' +
  ' LAMEDUCK_EVENT_STREAMS=all';

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
    onProbeThreadFailure(error) {
      const consequence = 'the main thread serves the probe port, and answers no probe while the event loop is blocked';
      log.warn({ err: error }, `probe thread failed: ${consequence}`);
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
      log.warn({ stalledMs }, `event loop turns again: it was blocked for ${formatDuration(stalledMs)}`);
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

// A logger that throws must not stop a shutdown: its line goes to standard output instead.
function withFallback(logger: Logger, output: ReturnType<typeof createLineWriter>): Logger {
  const attempt = (log: () => void, instead: () => void): void => {
    try {
      log();
    } catch {
      instead();
    }
  };
  const level = (name: LineLevel) => (details: object, message: string) => {
    const instead = (): void => {
      output[name](details, message);
    };
    attempt(() => {
      const outcome: unknown = logger[name]?.(details, message);
      // A logger that is asynchronous fails later, and as little as any other may that end the program.
      if (outcome instanceof Promise) outcome.catch(instead);
    }, instead);
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

/** silent is the Observer that says nothing. */
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
