// The probe thread of a lifecycle: which parts answer its questions, and where its events are logged.
import { systemClock } from './clock.ts';
import { messageOf } from './errors.ts';
import type { Logging } from './observers/logging.ts';
import type { Parts } from './parts.ts';
import { ProbePort } from './probe-worker/probe-port.ts';
import { isEnding } from './process/ending.ts';
import type { Settings } from './settings/table.ts';

/**
 * createProbePort makes the probe thread and its port, and starts neither. `parts` is called later. If the port fails and
 * `mayEndProcess`, the process ends with an uncaught error.
 */
export function createProbePort(
  settings: Settings,
  logging: Logging,
  mayEndProcess: boolean,
  parts: () => Parts,
): ProbePort {
  return new ProbePort({
    ...{ settings, clock: systemClock },
    answer: (url, method) => parts().answerProbePort(url, method),
    shutdown() {
      const { recorder, shutdown } = parts();
      // If the shutdown does not end the process, the thread must not end it either.
      if (shutdown.endsAt === undefined || !isEnding()) return undefined;
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
      if (isLeaving || !mayEndProcess) logging.onProbePortFailure(error);
      // An uncaught error, as when a server of the program cannot listen and has no listener for `error`.
      else
        process.nextTick(() => {
          throw error;
        });
    },
  });
}
