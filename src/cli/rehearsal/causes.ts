// Why requests were lost: a table of causes. Each looks for its evidence in the events of a scenario. Pure.
import type { EventKind, RehearsalEvent } from './event-log.ts';

/** Cause is one reason for a loss, with its remedy. */
export interface Cause {
  readonly name: string;
  /** The observation, in one sentence. */
  readonly text: string;
  readonly remedy: string;
}

type Events = readonly RehearsalEvent[];

interface Row {
  readonly name: string;
  readonly remedy: string;
  /** Returns what was seen, or undefined if this is not a cause. */
  find(events: Events): string | undefined;
}

const first = (events: Events, kind: EventKind): RehearsalEvent | undefined => events.find((one) => one.kind === kind);

const counted = ({ length }: Events, noun: string): string => `${String(length)} ${noun}${length === 1 ? '' : 's'}`;

const lossesOf = (events: Events, client: string, kinds: readonly EventKind[]): Events =>
  events.filter((one) => kinds.includes(one.kind) && one.detail['client'] === client);

const endOf = (events: Events): number => first(events, 'podDeleted')?.at ?? Infinity;

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

// How long after the start of the end the first and the last of some losses came.
function span(events: Events, losses: Events): string {
  const from = endOf(events);
  const [earliest, latest] = [losses[0]?.at ?? 0, losses.at(-1)?.at ?? 0];
  if (from === Infinity) return 'without a deletion';
  return `from ${seconds(Math.max(0, earliest - from))} to ${seconds(Math.max(0, latest - from))} after the deletion`;
}

// PID 1 ignores a signal without a handler. Without a PID namespace the process dies of the signal instead.
function ignoredSignal(events: Events): string | undefined {
  const kill = first(events, 'killSignal');
  if (kill?.detail['isStopSignalHandled'] === false) return String(kill.detail['signal']);
  const signal = first(events, 'stopSignal')?.detail['signal'];
  const died = events.find(({ kind, detail }) => kind === 'containerExited' && detail['signal'] === signal);
  return signal !== undefined && died !== undefined ? String(signal) : undefined;
}

const lostOrRefused: readonly EventKind[] = ['requestLost', 'requestRefused'];

const longKinds: Readonly<Record<string, string>> = {
  longPoll: 'long polls',
  eventStream: 'event streams',
  upload: 'uploads',
  webSocket: 'WebSockets',
};

// The exit code of a shell, and of unshare, for a command that cannot be started.
const notFound = 127;

const rows: readonly Row[] = [
  {
    name: 'onlyLoopback',
    remedy: 'Listen on 0.0.0.0 or ::, since probes and clients come to the address of the pod.',
    find(events) {
      const listening = events.filter(({ kind }) => kind === 'containerListening');
      return listening.length > 0 && listening.every(({ detail }) => detail['isLoopback'] === true)
        ? 'the server listens on loopback alone, where no kubelet and no client of a cluster reaches it'
        : undefined;
    },
  },
  {
    name: 'commandNotStarted',
    remedy: 'Check the command after --, and the folder from which it is started.',
    find(events) {
      const exit = events.find(({ kind, detail }) => kind === 'containerExited' && detail['code'] === notFound);
      return exit === undefined ? undefined : 'the command cannot be started';
    },
  },
  {
    name: 'neverReady',
    remedy: 'Check the port and the readiness probe. The output of the command shows why it did not start.',
    find(events) {
      const isReady = events.some(({ kind, detail }) => kind === 'readinessChanged' && detail['isReady'] === true);
      if (isReady || ['podDeleted', 'interrupted'].some((end) => events.some(({ kind }) => kind === end)))
        return undefined;
      const isListening = first(events, 'containerListening') !== undefined;
      return isListening ? 'the pod listened but never became ready' : 'the pod never listened on a port';
    },
  },
  {
    name: 'crashed',
    remedy: 'Mend what the output says. Another process may hold the port.',
    find(events) {
      const until = Math.min(endOf(events), first(events, 'stopSignal')?.at ?? Infinity);
      const crash = events.find(
        ({ kind, at, detail }) =>
          kind === 'containerExited' && at < until && detail['code'] !== 0 && detail['signal'] === undefined,
      );
      if (crash === undefined || crash.detail['code'] === notFound) return undefined;
      const { container, code, output } = crash.detail;
      const reason = /^.*Error: .*$/m.exec(String(output))?.[0] ?? String(output).trim().split('\n').at(-1) ?? '';
      return `container ${String(container)} exited by itself with code ${String(code)}${reason === '' ? '' : `: ${reason}`}`;
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
        : `the main process has no handler for ${name}, and PID 1 ignores such a signal`;
    },
  },
  {
    name: 'mainProcessIsNotTheServer',
    remedy: 'Start the server itself as the main process: "exec node server.js" in a script, or no launcher at all.',
    find(events) {
      const listening = first(events, 'containerListening');
      if (listening?.detail['isMain'] !== false || !events.some(({ kind }) => lostOrRefused.includes(kind)))
        return undefined;
      const signal = first(events, 'stopSignal');
      const exit = events.find(({ kind, at }) => kind === 'containerExited' && at >= (signal?.at ?? Infinity));
      if (signal === undefined || ignoredSignal(events) !== undefined) return undefined;
      if (first(events, 'killSignal') !== undefined)
        return 'the main process kept the stop signal to itself, and the server behind it was killed';
      return exit === undefined
        ? undefined
        : 'the main process ended first, and every other process was killed with it';
    },
  },
  {
    name: 'gracePeriodTooShort',
    remedy:
      'Raise terminationGracePeriodSeconds above preStop, delay and the slowest request together, or bound the shutdown.',
    find(events) {
      const kill = first(events, 'killSignal');
      const signal = first(events, 'stopSignal');
      if (kill === undefined || signal === undefined || ignoredSignal(events) !== undefined) return undefined;
      return `the process was still running ${seconds(kill.at - signal.at)} after the stop signal and was killed`;
    },
  },
  {
    name: 'listenerClosedTooEarly',
    remedy:
      'Go on accepting connections for some seconds after the stop signal (a shutdown delay, or a preStop sleep).',
    find(events) {
      const from = endOf(events);
      const losses = lossesOf(events, 'newConnection', lostOrRefused).filter(
        ({ at, detail }) => at >= from && detail['why'] !== 'no endpoint',
      );
      if (losses.length === 0) return undefined;
      const closed = events.find(
        ({ kind, at }) => (kind === 'listenerClosed' || kind === 'containerExited') && at >= from,
      );
      const when = closed === undefined ? '' : ` the listener closed ${seconds(closed.at - from)} after the deletion,`;
      return `${counted(losses, 'new connection')} failed,${when} ${span(events, losses)}`;
    },
  },
  {
    name: 'keptConnectionsCut',
    remedy:
      'Answer with Connection: close before closing a kept connection, so that no request is on its way when it ends.',
    find(events) {
      const losses = [
        ...lossesOf(events, 'keptConnection', ['requestLost']),
        ...lossesOf(events, 'retryingConnection', ['requestLost']),
        ...lossesOf(events, 'http2', ['requestLost']),
      ];
      return losses.length === 0
        ? undefined
        : `${counted(losses, 'request')} on kept connections failed, ${span(events, losses)}`;
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
    name: 'readinessNeverRed',
    remedy: 'Add a readiness probe that fails while the server is blocked or shutting down.',
    find(events) {
      const killing = first(events, 'containerKilling');
      const hasLosses = events.some(({ kind }) => lostOrRefused.includes(kind));
      if (first(events, 'podDeleted') !== undefined || killing === undefined || !hasLosses) return undefined;
      const isRed = events.some(
        ({ kind, at, detail }) => kind === 'readinessChanged' && detail['isReady'] === false && at < killing.at,
      );
      return isRed ? undefined : 'the container was restarted, and readiness was not red before';
    },
  },
  {
    name: 'lastEndpointNotReady',
    remedy: 'Keep readiness green while the last pod drains, or run more than one pod.',
    find(events) {
      const refused = events.filter(({ kind, detail }) => kind === 'requestRefused' && detail['why'] === 'no endpoint');
      return refused.length === 0 || endOf(events) === Infinity
        ? undefined
        : `${String(refused.length)} connections found no endpoint: the last pod was gone or not ready`;
    },
  },
];

/** faults are causes that are a loss of their own, since no client could be served. */
export const faults: readonly string[] = ['onlyLoopback', 'commandNotStarted', 'neverReady', 'crashed'];

/** mostCauses is how many causes a report shows. */
export const mostCauses = 3;

/** causesOf returns the causes for which the events have evidence, the most fundamental first. */
export function causesOf(events: Events): Cause[] {
  return rows.flatMap((row) => {
    const { name, remedy } = row;
    const text = row.find(events);
    return text === undefined ? [] : [{ name, text, remedy }];
  });
}
