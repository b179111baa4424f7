// Finds out why requests were lost. A table has one row for each cause. Each row searches the events of a scenario for
// evidence of its cause. No side effects.
import type { EventKind, RehearsalEvent } from './event-log.ts';

/** Cause is one reason why requests were lost, with what to do about it. */
export interface Cause {
  readonly name: string;
  /** text describes the observation in one sentence. */
  readonly text: string;
  readonly remedy: string;
}

type Events = readonly RehearsalEvent[];

interface Row {
  readonly name: string;
  readonly remedy: string;
  /** find returns a sentence about what was observed, or undefined if there is no evidence for this cause. */
  find(events: Events): string | undefined;
}

const first = (events: Events, kind: EventKind): RehearsalEvent | undefined => events.find((one) => one.kind === kind);

const counted = ({ length }: Events, noun: string): string => `${String(length)} ${noun}${length === 1 ? '' : 's'}`;

const lossesOf = (events: Events, client: string, kinds: readonly EventKind[]): Events =>
  events.filter((one) => kinds.includes(one.kind) && one.detail['client'] === client);

// Returns the first event of a shutdown: the deletion of the pod, or the kill of a container that is restarted.
const endingOf = (events: Events): RehearsalEvent | undefined =>
  first(events, 'podDeleted') ?? first(events, 'containerKilling');

const endOf = (events: Events): number => endingOf(events)?.at ?? Infinity;

const nameOfEnd = (events: Events): string => (endingOf(events)?.kind === 'podDeleted' ? 'deletion' : 'kill');

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

// Describes the time from the first loss to the last loss, in seconds after the deletion of the pod or the kill of its
// container.
function span(events: Events, losses: Events): string {
  const from = endOf(events);
  const [earliest, latest] = [losses[0]?.at ?? 0, losses.at(-1)?.at ?? 0];
  if (from === Infinity) return 'without a deletion';
  return `from ${seconds(Math.max(0, earliest - from))} to ${seconds(Math.max(0, latest - from))} after the ${nameOfEnd(events)}`;
}

// Returns the names of the sidecars.
function sidecarsOf(events: Events): unknown[] {
  return events
    .filter(({ kind, detail }) => kind === 'containerStarted' && detail['isSidecar'] === true)
    .map(({ detail }) => detail['container']);
}

function withoutSidecars(events: Events): Events {
  const sidecars = sidecarsOf(events);
  return events.filter(({ detail }) => !sidecars.includes(detail['container'] ?? ''));
}

// Returns the name of the stop signal if the main process ignored the signal. PID 1 of a PID namespace ignores every
// signal for which it has no handler. Outside a PID namespace, such a signal kills the process.
function ignoredSignal(all: Events): string | undefined {
  const events = withoutSidecars(all);
  const kill = first(events, 'killSignal');
  if (kill?.detail['isStopSignalHandled'] === false) return String(kill.detail['signal']);
  const signal = first(events, 'stopSignal')?.detail['signal'];
  const died = events.find(({ kind, detail }) => kind === 'containerExited' && detail['signal'] === signal);
  return signal !== undefined && died !== undefined ? String(signal) : undefined;
}

// Returns the first exit with code 0 of a container that never listened. An example is a program that starts a
// background process and exits.
function endedItself(events: Events): RehearsalEvent | undefined {
  const hasListened = first(events, 'containerListening') !== undefined;
  const until = Math.min(endOf(events), first(events, 'interrupted')?.at ?? Infinity);
  return hasListened
    ? undefined
    : withoutSidecars(events).find(
        ({ kind, at, detail }) => kind === 'containerExited' && detail['code'] === 0 && at < until,
      );
}

const lostOrRefused: readonly EventKind[] = ['requestLost', 'requestRefused'];

const longKinds: Readonly<Record<string, string>> = {
  longPoll: 'long polls',
  eventStream: 'event streams',
  upload: 'uploads',
  webSocket: 'WebSockets',
};

// The exit code of a shell and of `unshare` for a command that cannot be started.
const notFound = 127;

const rows: readonly Row[] = [
  {
    name: 'onlyLoopback',
    remedy: 'Listen on 0.0.0.0 or ::, because probes and clients connect to the address of the pod.',
    find(events) {
      const listening = events.filter(({ kind }) => kind === 'containerListening');
      return listening.length > 0 && listening.every(({ detail }) => detail['isLoopback'] === true)
        ? 'the server listens only on loopback, which neither the kubelet nor clients can reach'
        : undefined;
    },
  },
  {
    name: 'commandNotStarted',
    remedy: 'Check the command after --, and the working directory.',
    find(events) {
      const exit = events.find(({ kind, detail }) => kind === 'containerExited' && detail['code'] === notFound);
      return exit === undefined ? undefined : 'the command cannot be started';
    },
  },
  {
    name: 'endedItself',
    remedy: 'Run the server in the foreground: not as a daemon, and not with & in a script.',
    find(events) {
      return endedItself(events) === undefined
        ? undefined
        : 'the main process exited with code 0 before it listened, and a container ends with its main process';
    },
  },
  {
    name: 'neverReady',
    remedy: 'Check the port and the readiness probe. The output of the command shows why it did not start.',
    find(events) {
      const isReady = events.some(({ kind, detail }) => kind === 'readinessChanged' && detail['isReady'] === true);
      if (isReady || ['podDeleted', 'interrupted'].some((end) => events.some(({ kind }) => kind === end)))
        return undefined;
      if (endedItself(events) !== undefined) return undefined;
      const elsewhere = events.find(({ detail }) => detail['otherPorts'] !== undefined)?.detail;
      if (elsewhere !== undefined)
        return `nothing listened on port ${String(elsewhere['port'])}, but the command listens on port ${String(elsewhere['otherPorts'])}`;
      const isListening = first(events, 'containerListening') !== undefined;
      return isListening ? 'the pod listened but never became ready' : 'the pod never listened on a port';
    },
  },
  {
    name: 'crashed',
    remedy: 'Correct the error in the output. Another process may be using the port.',
    find(events) {
      const until = Math.min(endOf(events), first(events, 'stopSignal')?.at ?? Infinity);
      const crash = events.find(
        ({ kind, at, detail }) =>
          kind === 'containerExited' && at < until && detail['code'] !== 0 && detail['signal'] === undefined,
      );
      if (crash === undefined || crash.detail['code'] === notFound) return undefined;
      const { container, code, output } = crash.detail;
      const reason = /^.*Error: .*$/m.exec(String(output))?.[0] ?? String(output).trim().split('\n').at(-1) ?? '';
      return `container ${String(container)} exited on its own with code ${String(code)}${reason === '' ? '' : `: ${reason}`}`;
    },
  },
  {
    name: 'stopSignalIgnored',
    remedy:
      'Handle the stop signal in the main process, or start the server itself as the main process (exec form, no npm or shell).',
    find(events) {
      const name = ignoredSignal(events);
      return name === undefined
        ? undefined
        : `the main process has no handler for ${name}, and PID 1 ignores a signal without a handler`;
    },
  },
  {
    name: 'mainProcessIsNotTheServer',
    remedy: 'Start the server itself as the main process: "exec node server.js" in a script, or no launcher at all.',
    find(all) {
      const events = withoutSidecars(all);
      const listening = first(events, 'containerListening');
      if (listening?.detail['isMain'] !== false || !events.some(({ kind }) => lostOrRefused.includes(kind)))
        return undefined;
      const signal = first(events, 'stopSignal');
      const exit = events.find(({ kind, at }) => kind === 'containerExited' && at >= (signal?.at ?? Infinity));
      if (signal === undefined || ignoredSignal(events) !== undefined) return undefined;
      if (first(events, 'killSignal') !== undefined)
        return 'the main process did not forward the stop signal to the server, and the server was killed';
      return exit === undefined
        ? undefined
        : 'the main process exited before the server, and the kernel then killed the server';
    },
  },
  {
    name: 'gracePeriodTooShort',
    remedy:
      'Raise terminationGracePeriodSeconds above preStop, delay and the slowest request together, or bound the shutdown.',
    find(all) {
      const events = withoutSidecars(all);
      const kill = first(events, 'killSignal');
      const signal = first(events, 'stopSignal');
      if (kill === undefined || signal === undefined || ignoredSignal(events) !== undefined) return undefined;
      return `the process was still running ${seconds(kill.at - signal.at)} after the stop signal and was killed`;
    },
  },
  {
    name: 'listenerClosedTooEarly',
    remedy:
      'Keep accepting connections for some seconds after the stop signal, with a shutdown delay or a preStop sleep.',
    find(events) {
      const from = endOf(events);
      const losses = lossesOf(events, 'newConnection', lostOrRefused).filter(
        ({ at, detail }) => at >= from && detail['why'] !== 'no endpoint',
      );
      if (losses.length === 0) return undefined;
      const closed = withoutSidecars(events).find(
        ({ kind, at }) => (kind === 'listenerClosed' || kind === 'containerExited') && at >= from,
      );
      // If the kubelet killed the container without a deletion of the pod, SIGKILL closed the listener. The losses then
      // have another cause than a listener that closed too early.
      const isKilled = (first(events, 'killSignal')?.at ?? Infinity) <= (closed?.at ?? Infinity);
      if (isKilled && first(events, 'podDeleted') === undefined) return undefined;
      const when =
        closed === undefined ? '' : ` the listener closed ${seconds(closed.at - from)} after the ${nameOfEnd(events)},`;
      return `${counted(losses, 'new connection')} failed,${when} ${span(events, losses)}`;
    },
  },
  {
    name: 'keptConnectionsCut',
    remedy:
      'Send Connection: close in a response before closing a kept-alive connection, so that no request is in flight then.',
    find(events) {
      const losses = [
        ...lossesOf(events, 'keptConnection', ['requestLost']),
        ...lossesOf(events, 'retryingConnection', ['requestLost']),
        ...lossesOf(events, 'http2', ['requestLost']),
      ];
      return losses.length === 0
        ? undefined
        : `${counted(losses, 'request')} on kept-alive connections failed, ${span(events, losses)}`;
    },
  },
  {
    name: 'longRequestsCut',
    remedy: 'Wait for requests in flight, end event streams cleanly, and close WebSockets with code 1001.',
    find(events) {
      const seen = Object.entries(longKinds).flatMap(([client, name]) => {
        const { length } = lossesOf(events, client, ['requestLost']);
        return length === 0 ? [] : [`${String(length)} ${name}`];
      });
      return seen.length === 0 ? undefined : `${seen.join(', ')} were cut`;
    },
  },
  {
    name: 'sidecarEndedFirst',
    remedy: 'Do not end the sidecar in a preStop hook. The kubelet ends it after the other containers.',
    find(events) {
      const deletion = first(events, 'podDeleted');
      const sidecars = sidecarsOf(events);
      const exits = events.filter(({ kind, at }) => kind === 'containerExited' && at >= (deletion?.at ?? Infinity));
      const main = exits.findLast(({ detail }) => !sidecars.includes(detail['container']));
      const early = exits.find(({ at, detail }) => sidecars.includes(detail['container']) && at < (main?.at ?? 0));
      if (main === undefined || early === undefined) return undefined;
      const [sidecar, other] = [early, main].map(({ detail }) => String(detail['container']));
      return `sidecar ${String(sidecar)} exited ${seconds(main.at - early.at)} before container ${String(other)}, which may still need it`;
    },
  },
  {
    name: 'sidecarKilled',
    remedy:
      'Handle the stop signal in the sidecar. If it had only 2 s, let the other containers exit earlier, or raise terminationGracePeriodSeconds.',
    find(events) {
      const sidecars = sidecarsOf(events);
      const kill = events.find(({ kind, detail }) => kind === 'killSignal' && sidecars.includes(detail['container']));
      const signal = events.find(
        ({ kind, detail }) => kind === 'stopSignal' && detail['container'] === kill?.detail['container'],
      );
      if (kill === undefined || signal === undefined) return undefined;
      const why = kill.detail['isStopSignalHandled'] === false ? ', for which it has no handler' : '';
      return `sidecar ${String(kill.detail['container'])} was killed ${seconds(kill.at - signal.at)} after the stop signal${why}`;
    },
  },
  {
    name: 'readinessNeverRed',
    remedy: 'Add a readiness probe that fails while the server is blocked or shutting down.',
    find(events) {
      const killing = first(events, 'containerKilling');
      const hasLosses = events.some(({ kind }) => lostOrRefused.includes(kind));
      if (first(events, 'podDeleted') !== undefined || killing === undefined || !hasLosses) return undefined;
      const exit = events.find(({ kind, at }) => kind === 'containerExited' && at >= killing.at);
      const isRed = events.some(
        ({ kind, at, detail }) =>
          kind === 'readinessChanged' && detail['isReady'] === false && at < (exit?.at ?? Infinity),
      );
      return isRed ? undefined : 'the container was restarted, and its readiness probe did not fail before its exit';
    },
  },
  {
    name: 'lastEndpointNotReady',
    remedy: 'Let the readiness probe pass while the last pod drains, or run more than one pod.',
    find(events) {
      const refused = events.filter(({ kind, detail }) => kind === 'requestRefused' && detail['why'] === 'no endpoint');
      return refused.length === 0 || endOf(events) === Infinity
        ? undefined
        : `${String(refused.length)} connections found no endpoint: the last pod was gone or not ready`;
    },
  },
];

/**
 * If there is evidence for one of these causes, the server could not serve any client. The verdict is then `lost`, even
 * if no request was lost.
 */
export const faults: readonly string[] = ['onlyLoopback', 'commandNotStarted', 'endedItself', 'neverReady', 'crashed'];

/** mostCauses is the largest number of causes that a report shows. */
export const mostCauses = 3;

/** causesOf returns the causes for which the events contain evidence, the most fundamental cause first. */
export function causesOf(events: Events): Cause[] {
  return rows.flatMap((row) => {
    const { name, remedy } = row;
    const text = row.find(events);
    return text === undefined ? [] : [{ name, text, remedy }];
  });
}
