// Connects the probe thread with a lifecycle. Passes probes from the probe thread to the lifecycle, and events of the
// probe thread to the log.
import { systemClock } from './clock.ts';
import { messageOf } from './errors.ts';
import type { PreviousRun } from './observer.ts';
import { Inspector } from './observers/inspector.ts';
import type { Logging } from './observers/logging.ts';
import type { Parts } from './parts.ts';
import { ProbePort, type DebugSocketFunctions } from './probe-worker/probe-port.ts';
import { sendSignal } from './process/send-signal.ts';
import { thisProcess } from './process/this-process.ts';
import type { Sources } from './settings/complete.ts';
import type { Settings } from './settings/table.ts';

/**
 * ProbeThreadOptions are the options of `createProbePort`. `parts` and `previousRun` are functions, because the
 * lifecycle's parts and the facts about the previous run do not exist yet when `createProbePort` is called.
 */
export interface ProbeThreadOptions {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly logging: Logging;
  /** isUnderRegister is true if `lameduck/register` created the lifecycle. */
  readonly isUnderRegister: boolean;
  readonly parts: () => Parts;
  readonly previousRun: () => PreviousRun | undefined;
}

/** createProbePort creates the probe thread with its port and its debug socket. It does not start the thread. */
export function createProbePort(options: ProbeThreadOptions): ProbePort {
  const { settings, logging, isUnderRegister, parts } = options;
  return new ProbePort({
    debugSocket: settings.debugSocketPath === '' ? undefined : debugSocketFunctions(options),
    settings,
    clock: systemClock,
    answer: (url, method) => parts().answerProbePort(url, method),
    shutdown() {
      const { recorder, shutdown } = parts();
      // If the process continues after the shutdown, do not send the state of the shutdown to the probe thread. With
      // this state, the probe thread would end the process.
      if (shutdown.endsAt === undefined || !thisProcess().isEnding) return undefined;
      const { uncaughtError } = recorder;
      return { record: recorder.soFar(), uncaughtError, remainingMs: shutdown.endsAt - systemClock.now() };
    },
    onListening: (address) => {
      logging.onProbePort(address);
    },
    onYield: isUnderRegister ? logging.onProbePortYield.bind(undefined, settings.probePort) : undefined,
    onThreadFailure(error) {
      if (settings.probePort !== 0) logging.onProbeThreadFailure(error);
      else
        logging.onWarning(
          `the probe thread failed, so only SIGKILL can end this process while its event loop is blocked: ${messageOf(error)}`,
        );
    },
    onStallEnd: (stalledMs) => {
      logging.onStallEnd(stalledMs);
    },
    onFailure(error) {
      const isShuttingDown = parts().handle.signals.shutdownInitiated.hasSignaled;
      // Under `lameduck/register`, the process continues without a probe port if it cannot listen on the port, even if
      // the program has configured the port.
      if (isShuttingDown || isUnderRegister) logging.onProbePortFailure(error);
      // Throw the error as an uncaught error. Node does the same if a server cannot listen and its event `error` has no
      // listener.
      else
        process.nextTick(() => {
          throw error;
        });
    },
  });
}

function debugSocketFunctions(options: ProbeThreadOptions): DebugSocketFunctions {
  const { settings, sources, logging, parts, previousRun } = options;
  const path = settings.debugSocketPath;
  const inspector = new Inspector(settings, sources, systemClock);
  return {
    facts: () => inspector.inspect(parts(), previousRun()),
    act(action) {
      logging.onDebugSocketRequest(action);
      if (action === 'shutdown') beginShutdown(parts());
      else parts().health.isHeldUnready = action === 'unready';
    },
    onSignal: (event) => {
      inspector.noteSignal(event);
    },
    onListening: () => {
      logging.onDebugSocket(path);
    },
    onFailure: (error) => {
      logging.onDebugSocketFailure(path, error);
    },
  };
}

// Sends the first signal of the setting `shutdownSignals` to this process itself. If the shutdown has already begun,
// this function sends no signal, because a second signal would end the process at once.
function beginShutdown({ handle, settings }: Parts): void {
  const [signal] = settings.shutdownSignals;
  if (signal !== undefined && !handle.signals.shutdownInitiated.hasSignaled) sendSignal(process.pid, signal);
}
