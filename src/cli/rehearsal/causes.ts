// Determines why requests were lost. A table has one row for each cause, with a function that searches the events of a
// scenario for evidence of this cause. No side effects.
import { deathsOf, withoutDeaths } from './deaths.ts';
import type { EventKind, RehearsalEvent } from './event-log.ts';
import {
  counted,
  countOf,
  endOf,
  first,
  isRefusal,
  lossesOf,
  lostOrRefused,
  nameOfEnd,
  seconds,
  span,
  type Events,
} from './losses.ts';
import { sidecarRows, withoutSidecars } from './sidecar-causes.ts';
import { startRows } from './start-causes.ts';
import { unservedRows, withoutUnserved } from './unserved-causes.ts';

/** Cause is one reason why requests were lost, with what to do about it. */
export interface Cause {
  readonly name: string;
  /** `text` says in one sentence what the rehearsal observed. */
  readonly text: string;
  readonly remedy: string;
}

/**
 * Row is one cause of lost requests, with the function that searches the events of a scenario for evidence of this
 * cause.
 */
export interface Row {
  readonly name: string;
  /** `remedy` says what to do about the cause. It is a function if this depends on the events. */
  readonly remedy: string | ((events: Events) => string);
  /**
   * find searches the events of a scenario for evidence of the cause that this row names. It returns a sentence that
   * describes the evidence, or undefined if there is no evidence.
   */
  find(events: Events): string | undefined;
}

// Returns the name of the stop signal if the main process would ignore this signal in a container. PID 1 of a PID
// namespace ignores every signal for which it has no handler. Outside a PID namespace, such a signal kills the process
// instead.
function ignoredSignal(all: Events): string | undefined {
  const events = withoutSidecars(all);
  const kill = first(events, 'killSignal');
  const stop = first(events, 'stopSignal');
  // At the time of SIGKILL, a process no longer has a signal handler that it added with process.once() and that has
  // run. But a process that closed a port between the stop signal and SIGKILL must have had such a handler.
  const untilKill = kill === undefined ? [] : events.slice(0, events.indexOf(kill));
  const hasClosed = untilKill.some(({ kind, at }) => kind === 'listenerClosed' && at >= (stop?.at ?? Infinity));
  const hasIgnored = kill?.detail['isStopSignalHandled'] === false || hasLateHandler(events);
  if (kill !== undefined && hasIgnored && !hasClosed) return String(kill.detail['signal']);
  const signal = stop?.detail['signal'];
  const died = events.find(({ kind, detail }) => kind === 'containerExited' && detail['signal'] === signal);
  return signal !== undefined && died !== undefined ? String(signal) : undefined;
}

// Tells whether the main process added its handler for the stop signal only after this signal.
const hasLateHandler = (events: Events): boolean =>
  first(withoutSidecars(events), 'killSignal')?.detail['isHandlerLate'] === true;

const longKinds: Readonly<Record<string, string>> = {
  longPoll: 'long polls',
  eventStream: 'event streams',
  upload: 'uploads',
  webSocket: 'WebSockets',
};

// Returns the event of the SIGKILL that a process got while the rehearsal had suspended it. A suspended process cannot
// handle its stop signal.
function killWhileBlocked(events: Events): RehearsalEvent | undefined {
  const kill = first(withoutSidecars(events), 'killSignal');
  const block = events.findLast(
    ({ at, detail: { deed } }) => at <= (kill?.at ?? -Infinity) && (deed === 'block' || deed === 'unblock'),
  );
  return block?.detail['deed'] === 'block' ? kill : undefined;
}

// Returns the requests of one kind of client that were lost while the server was running. The server could have
// prevented these losses.
const preventable = (events: Events, client: string, kinds: readonly EventKind[]): Events =>
  withoutDeaths(lossesOf(events, client, kinds), deathsOf(events));

// How long after the end of its suspension, in milliseconds, a process can still lose a request because of the
// suspension. The process may run its timers before it handles the request. The client also reports a lost request
// late.
const afterBlock = 500;

interface BlockLosses {
  readonly losses: Events;
  readonly blockedMs: number;
}

// Returns the requests on kept-alive connections that a running server lost because the rehearsal had suspended it. The
// clients sent these requests during the suspension, or shortly after it. When the server continues, the keep-alive
// timeout of a connection can end before the server reads a request that has already arrived.
function lossesAfterBlock(events: Events): BlockLosses {
  const block = events.find(({ detail }) => detail['deed'] === 'block');
  const unblock = events.find(({ detail }) => detail['deed'] === 'unblock');
  if (block === undefined || unblock === undefined) return { losses: [], blockedMs: 0 };
  const losses = lostOnKeptConnections(events).filter(
    ({ at, detail }) => at >= unblock.at && at - Number(detail['afterMs'] ?? 0) <= unblock.at + afterBlock,
  );
  return { losses, blockedMs: unblock.at - block.at };
}

const lostOnKeptConnections = (events: Events): Events =>
  ['keptConnection', 'retryingConnection'].flatMap((client) => preventable(events, client, ['requestLost']));

// Causes why a client lost requests, although the server had answered earlier requests of this client.
const rows: readonly Row[] = [
  {
    name: 'stopSignalIgnored',
    remedy: (events) =>
      hasLateHandler(events)
        ? 'Add the handler for the stop signal at the start of the program, before everything that takes time.'
        : 'Handle the stop signal in the main process, or start the server itself as the main process (exec form, no npm or shell).',
    find(events) {
      const name = ignoredSignal(events);
      if (name === undefined) return undefined;
      const what = hasLateHandler(events)
        ? `added its handler for ${name} only after this signal`
        : `has no handler for ${name}`;
      return `the main process ${what}, and a process with PID 1 ignores a signal for which it has no handler`;
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
        return 'the main process did not forward the stop signal to the server process, and the kubelet later killed the server process';
      return exit === undefined
        ? undefined
        : 'the main process exited while the server process was still running, so the kernel killed the server process';
    },
  },
  {
    name: 'gracePeriodTooShort',
    remedy:
      'Raise terminationGracePeriodSeconds above the sum of the preStop hook, the shutdown delay and the slowest request, or make the program end its shutdown earlier.',
    find(all) {
      const events = withoutSidecars(all);
      const kill = first(events, 'killSignal');
      const signal = first(events, 'stopSignal');
      if (kill === undefined || signal === undefined || ignoredSignal(events) !== undefined) return undefined;
      if (first(events, 'podDeleted')?.detail['cause'] === 'hardEviction') return undefined;
      if (killWhileBlocked(events) !== undefined) return undefined;
      return `the process was still running ${seconds(kill.at - signal.at)} after the stop signal and was killed`;
    },
  },
  {
    name: 'evictedWhileRunning',
    remedy:
      'No field lengthens the grace period of a hard eviction. Set memory and ephemeral-storage requests that prevent the eviction.',
    find(all) {
      const events = withoutSidecars(all);
      const isEvicted = first(events, 'podDeleted')?.detail['cause'] === 'hardEviction';
      const isKilled = first(events, 'killSignal') !== undefined && ignoredSignal(events) === undefined;
      return isEvicted && isKilled
        ? 'the kubelet killed the process two seconds after the start of the hard eviction'
        : undefined;
    },
  },
  {
    name: 'killedWhileBlocked',
    remedy:
      'Let the liveness probe fail only if the server is blocked for longer than it ever is in normal operation. Let the readiness probe fail sooner than the liveness probe.',
    find(events) {
      const kill = killWhileBlocked(events);
      const signal = first(withoutSidecars(events), 'stopSignal');
      return kill === undefined || signal === undefined
        ? undefined
        : `the liveness probe failed while the server was blocked, and the kubelet killed the process ${seconds(kill.at - signal.at)} after the stop signal`;
    },
  },
  {
    name: 'mainProcessKilled',
    remedy:
      'A killed process cannot announce its end to its clients. Run more than one pod, and let clients retry idempotent requests.',
    find(events) {
      const deaths = deathsOf(events).filter(({ by }) => by === 'kill');
      const losses = [...new Set(deaths.flatMap((death) => death.losses))];
      const times = deaths.length === 1 ? '' : ` ${String(deaths.length)} times`;
      return losses.length === 0
        ? undefined
        : `the main process was killed with SIGKILL${times}, and ${counted(losses, 'request')} failed`;
    },
  },
  {
    name: 'refusedByStatus',
    remedy:
      'Until the server closes its listening socket, the server should reject a request only if the server is overloaded.',
    find(events) {
      const refused = events.filter((one) => one.kind === 'requestRefused' && isRefusal(one));
      if (refused.length === 0) return undefined;
      const statuses = [...new Set(refused.map(({ detail }) => String(detail['why'])))].join(' or ');
      return `${counted(refused, 'request')} got ${statuses}, ${span(events, refused)}`;
    },
  },
  {
    name: 'listenerClosedTooEarly',
    remedy:
      'Keep accepting connections for some seconds after the stop signal, with a shutdown delay or a preStop sleep.',
    find(events) {
      const from = endOf(events);
      const losses = preventable(events, 'newConnection', lostOrRefused).filter(
        (one) => one.at >= from && one.detail['why'] !== 'no endpoint' && !isRefusal(one),
      );
      if (losses.length === 0) return undefined;
      const closed = withoutSidecars(events).find(
        ({ kind, at }) => (kind === 'listenerClosed' || kind === 'containerExited') && at >= from,
      );
      const when =
        closed === undefined ? '' : ` the listener closed ${seconds(closed.at - from)} after the ${nameOfEnd(events)},`;
      return `${counted(losses, 'new connection')} failed,${when} ${span(events, losses)}`;
    },
  },
  {
    name: 'cutAfterBlock',
    remedy:
      'Keep blocks of the event loop shorter than the keep-alive timeout of the server, or raise this timeout above the longest block.',
    find(events) {
      const { losses, blockedMs } = lossesAfterBlock(events);
      return losses.length === 0
        ? undefined
        : `${counted(losses, 'request')} on kept-alive connections failed after the server had been blocked for ${seconds(blockedMs)}`;
    },
  },
  {
    name: 'keptConnectionsCut',
    remedy:
      'Before the server closes a kept-alive connection, it should send Connection: close in a response, so that the client sends no further request on this connection.',
    find(events) {
      const byBlock = lossesAfterBlock(events).losses;
      const losses = lostOnKeptConnections(events).filter((loss) => !byBlock.includes(loss));
      return losses.length === 0
        ? undefined
        : `${counted(losses, 'request')} on kept-alive connections failed, ${span(events, losses)}`;
    },
  },
  {
    name: 'http2SessionsCut',
    remedy:
      'Send GOAWAY with the last stream ID 2^31-1, serve the streams that still arrive, and then close the session (RFC 9113, section 6.8).',
    find(events) {
      const losses = preventable(events, 'http2', lostOrRefused).filter(
        ({ kind, detail }) => kind === 'requestLost' || detail['why'] === 'REFUSED_STREAM',
      );
      return losses.length === 0
        ? undefined
        : `${counted(losses, 'HTTP/2 request')} failed on open sessions, ${span(events, losses)}`;
    },
  },
  {
    name: 'longRequestsCut',
    remedy: 'Wait for requests in flight, end event streams cleanly, and close WebSockets with code 1001.',
    find(events) {
      // If the kubelet sent SIGKILL, the server had the grace period to finish its requests. If the container crashed,
      // the server had no time, so the losses of a crash are left out.
      const deaths = deathsOf(events).filter(({ by }) => by !== 'kubelet');
      const seen = Object.entries(longKinds).flatMap(([client, name]) => {
        const count = countOf(withoutDeaths(lossesOf(events, client, ['requestLost']), deaths));
        return count === 0 ? [] : [`${String(count)} ${name}`];
      });
      return seen.length === 0 ? undefined : `${seen.join(', ')} were cut`;
    },
  },
  ...sidecarRows,
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
      return isRed
        ? undefined
        : 'the container exited before its readiness probe failed, so the Service still sent connections to the container while it restarted';
    },
  },
  {
    name: 'lastEndpointNotReady',
    remedy: 'Let the readiness probe pass while the last pod drains, or run more than one pod.',
    find(events) {
      const refused = events.filter(({ kind, detail }) => kind === 'requestRefused' && detail['why'] === 'no endpoint');
      return refused.length === 0 || endOf(events) === Infinity
        ? undefined
        : `${String(countOf(refused))} connections were refused, because the Service had no ready pod: the only remaining pod had ended or was not ready`;
    },
  },
];

/** mostCauses is the largest number of causes that a report shows. */
export const mostCauses = 3;

/** causeNames contains the names of all causes. */
export const causeNames: readonly string[] = [
  ...new Set([...startRows, ...unservedRows, ...rows].map(({ name }) => name)),
];

/** causesOf returns the causes for which the events contain evidence, the most fundamental cause first. */
export function causesOf(events: Events): Cause[] {
  return [...foundIn([...startRows, ...unservedRows], events), ...foundIn(rows, withoutUnserved(events))];
}

function foundIn(searched: readonly Row[], events: Events): Cause[] {
  return searched.flatMap((row) => {
    const { name, remedy } = row;
    const text = row.find(events);
    if (text === undefined) return [];
    return [{ name, text, remedy: typeof remedy === 'string' ? remedy : remedy(events) }];
  });
}
