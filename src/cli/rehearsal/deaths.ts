// Finds each exit of the serving container that the server could not announce to its clients, such as a crash. No side
// effects.
import { constants } from 'node:os';
import type { EventKind, RehearsalEvent } from './event-log.ts';
import { lostOrRefused, type Events } from './losses.ts';

/** Death is an exit of the serving container that the server could not announce to its clients. */
export interface Death {
  /**
   * `by` says who ended the container. `kubelet`: a signal of the kubelet killed the main process. `kill`: SIGKILL of
   * another sender killed the main process. `itself`: the main process crashed, or ended although nothing had told it
   * to end.
   */
  readonly by: 'kubelet' | 'kill' | 'itself';
  readonly exit: RehearsalEvent;
  /** `listening` is the last event in which this instance of the container began to listen on a port. */
  readonly listening: RehearsalEvent | undefined;
  /** `losses` contains the requests that were lost or refused because of this exit of the container. */
  readonly losses: Events;
}

/** Instance is one run of the serving container, from its start to its exit. */
interface Instance {
  readonly exit: RehearsalEvent;
  /** `events` contains the events of this container between its start and its exit. */
  readonly events: Events;
}

// Requests that fail because of a container's exit have a time at most this many milliseconds before or after the
// recorded time of the exit. Both times are late: the client thread reports failed requests every 100 ms, and the
// rehearsal may notice the exit even later.
const lateness = 500;

/** `deathsOf()` returns the deaths of the serving container in the order of time. */
export function deathsOf(all: Events): Death[] {
  // At the end of a scenario, the rehearsal itself kills the container.
  const end = all.findIndex(({ kind }) => kind === 'loadEnded' || kind === 'interrupted');
  const events = end === -1 ? all : all.slice(0, end);
  const deletion = events.find(({ kind }) => kind === 'podDeleted');
  return instancesOf(events).flatMap((instance) => {
    const { exit } = instance;
    const by = endedBy(instance, deletion !== undefined && events.indexOf(deletion) < events.indexOf(exit));
    if (by === undefined) return [];
    const listening = instance.events.findLast(({ kind }) => kind === 'containerListening');
    return [{ by, exit, listening, losses: lossesIn(events, instance) }];
  });
}

/** withoutDeaths omits the requests that were lost or refused because the serving container died. */
export function withoutDeaths(losses: Events, deaths: readonly Death[]): Events {
  const caused = new Set(deaths.flatMap((death) => death.losses));
  return losses.filter((loss) => !caused.has(loss));
}

// Returns the instances of the serving container that have exited. The serving container is the first container that is
// not a sidecar.
function instancesOf(events: Events): Instance[] {
  const main = events.find(({ kind, detail }) => kind === 'containerStarted' && detail['isSidecar'] !== true)?.detail[
    'container'
  ];
  const isOfMain = ({ kind, detail }: RehearsalEvent, wanted: EventKind): boolean =>
    kind === wanted && detail['container'] === main;
  return events.flatMap((exit, index) => {
    if (main === undefined || !isOfMain(exit, 'containerExited')) return [];
    const earlier = events.slice(0, index);
    const start = earlier.findLastIndex((one) => isOfMain(one, 'containerStarted'));
    const own = earlier.slice(start).filter(({ detail: { container } }) => (container ?? main) === main);
    return [{ exit, events: own }];
  });
}

// Says who ended an instance of the container. Returns undefined if the main process exited by itself after the stop
// signal and did not crash, because the server could then announce its end.
function endedBy({ events, exit }: Instance, isPodDeleted: boolean): Death['by'] | undefined {
  const has = (...wanted: EventKind[]): boolean => events.some(({ kind }) => wanted.includes(kind));
  const { signal } = exit.detail;
  if (has('killSignal')) return 'kubelet';
  if (signal === 'SIGKILL') return 'kill';
  if (hasCrashed(exit)) return 'itself';
  if (!isPodDeleted && !has('containerKilling', 'stopSignal')) return 'itself';
  return signal === undefined ? undefined : 'kubelet';
}

// The signals that end a process because of an error in its own code.
const crashSignals = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'] as const;

// If the main process is a shell, the crash of its child is only visible in the exit code of the shell.
const crashCodes: readonly unknown[] = crashSignals.map((name) => 128 + constants.signals[name]);

// The output of a process that an uncaught error has ended, in Node, Python and Go. In Python, KeyboardInterrupt is the
// default action for SIGINT, which may be the stop signal.
const uncaughtErrors: readonly RegExp[] = [
  /\nNode\.js v\d\S*\s*$/,
  /(?:^|\n)Traceback \(most recent call last\):\n(?: .*\n)+(?!KeyboardInterrupt)\S.*\s*$/,
  /(?:^|\n)(?:panic|fatal error): .*\n[^]*\ngoroutine \d+ \[/,
];

// Tells whether a process crashed. A server may exit with any code after its stop signal, so the exit code alone does
// not show a crash.
function hasCrashed({ detail: { code, output } }: RehearsalEvent): boolean {
  return crashCodes.includes(code) || (code !== 0 && uncaughtErrors.some((one) => one.test(String(output))));
}

// Returns the requests that failed after the SIGKILL or the exit of an instance, until the next instance listens, or
// shortly after that.
function lossesIn(all: Events, { events, exit }: Instance): Events {
  const kill = events.find(({ kind, detail }) => kind === 'killSignal' || detail['deed'] === 'crash');
  const listening = all.find(({ kind, at }) => kind === 'containerListening' && at > exit.at);
  const from = kill?.at ?? exit.at - lateness;
  const until = (listening?.at ?? Infinity) + lateness;
  return all.filter(({ kind, at }) => lostOrRefused.includes(kind) && at >= from && at <= until);
}
