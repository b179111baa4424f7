// The probe thread of a lifecycle: which parts answer its questions, and where its events are logged.
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

/** ProbeThreadOptions is what the probe thread is made from. `parts` and `previousRun` are called later. */
export interface ProbeThreadOptions {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly logging: Logging;
  /** Whether `lameduck/register` made the lifecycle. */
  readonly isGuest: boolean;
  readonly parts: () => Parts;
  readonly previousRun: () => PreviousRun | undefined;
}

/** createProbePort makes the probe thread with its port and its debug socket, and starts none of them. */
export function createProbePort(options: ProbeThreadOptions): ProbePort {
  const { settings, logging, isGuest, parts } = options;
  return new ProbePort({
    debugSocket: settings.debugSocketPath === '' ? undefined : debugSocketFunctions(options),
    ...{ settings, clock: systemClock },
    answer: (url, method) => parts().answerProbePort(url, method),
    shutdown() {
      const { recorder, shutdown } = parts();
      // If the shutdown does not end the process, the thread must not end it either.
      if (shutdown.endsAt === undefined || !thisProcess().isEnding) return undefined;
      const { uncaughtError } = recorder;
      return { record: recorder.soFar(), uncaughtError, remainingMs: shutdown.endsAt - systemClock.now() };
    },
    onListening: (address) => {
      logging.onProbePort(address);
    },
    onThreadFailure(error) {
      if (settings.probePort !== 0) logging.onProbeThreadFailure(error);
      else logging.onWarning(`no thread can end the process if its event loop is blocked: ${messageOf(error)}`);
    },
    onStallEnd: (stalledMs) => {
      logging.onStallEnd(stalledMs);
    },
    onFailure(error) {
      const isLeaving = parts().handle.signals.shutdownInitiated.hasSignaled;
      // Under `lameduck/register` a failed probe port never ends the process, even if the port was set.
      if (isLeaving || isGuest) logging.onProbePortFailure(error);
      // An uncaught error, as when a server of the program cannot listen and has no listener for `error`.
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

// A second process signal would end the process at once.
function beginShutdown({ handle, settings }: Parts): void {
  const [signal] = settings.shutdownSignals;
  if (signal !== undefined && !handle.signals.shutdownInitiated.hasSignaled) sendSignal(process.pid, signal);
}
