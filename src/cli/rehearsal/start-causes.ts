// Lists the causes of failed requests if a server never served a client, or served no client after a restart. No side
// effects.
import type { Row } from './causes.ts';
import { deathsOf, type Death } from './deaths.ts';
import type { RehearsalEvent } from './event-log.ts';
import { endOf, first, seconds, type Events } from './losses.ts';
import { unstartable } from './pod.ts';

/**
 * endedItself returns the first death of the serving container in which the main process exited on its own with code 0.
 * One example is a program that starts a background process and exits.
 */
export const endedItself = (events: Events): Death | undefined =>
  deathsOf(events).find(({ by, exit }) => by === 'itself' && exit.detail['code'] === 0);

const lastLine = (output: unknown): string => String(output).trim().split('\n').at(-1) ?? '';

// Returns the event that records the exit of a container whose command cannot be started.
const unstarted = (events: Events): RehearsalEvent | undefined =>
  events.find(({ kind, detail }) => kind === 'containerExited' && unstartable.includes(detail['code']));

// Returns the event which says that the container listens on another port than the request port, to which the clients
// send requests. Returns undefined if the container listens on the request port later.
const elsewhere = (events: Events): RehearsalEvent | undefined =>
  events.find(
    ({ at, detail: { port, otherPorts } }) =>
      otherPorts !== undefined && !listensOn(events, port).some((listening) => listening.at > at),
  );

const listensOn = (events: Events, port: unknown): Events =>
  events.filter(({ kind, detail }) => kind === 'containerListening' && detail['port'] === port);

/**
 * startRows lists the causes that prevent a server from serving clients. A report shows them in this order, the most
 * fundamental cause first.
 */
export const startRows: readonly Row[] = [
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
      const exit = unstarted(events);
      return exit === undefined ? undefined : `the command cannot be started: ${lastLine(exit.detail['output'])}`;
    },
  },
  {
    name: 'endedItself',
    remedy:
      'Run the server in the foreground: not as a daemon, and not with & in a script. The main process must run until the stop signal.',
    find(events) {
      const death = endedItself(events);
      if (death === undefined) return undefined;
      const text = 'the container ended because its main process exited by itself with code 0';
      const { exit, listening } = death;
      if (listening === undefined) return `${text} before the container listened on a port`;
      const listener = listening.detail['isMain'] === false ? 'a child process' : 'the main process';
      return `${text}, ${seconds(exit.at - listening.at)} after ${listener} began to listen on port ${String(listening.detail['port'])}`;
    },
  },
  {
    name: 'crashed',
    remedy:
      'Correct the error in the output of the container. For example, another process may already be using the port of the server.',
    find(events) {
      const until = Math.min(endOf(events), first(events, 'stopSignal')?.at ?? Infinity);
      const early = events.find(
        ({ kind, at, detail }) =>
          kind === 'containerExited' && at < until && detail['code'] !== 0 && detail['signal'] !== 'SIGKILL',
      );
      // A crash after the stop signal is a cause only if it lost requests.
      const late = deathsOf(events).find(
        ({ by, exit, losses }) => by === 'itself' && exit.detail['code'] !== 0 && losses.length > 0,
      );
      const crash = early ?? late?.exit;
      if (crash === undefined || unstarted(events) !== undefined) return undefined;
      const { container, code, signal, output } = crash.detail;
      const reason = /^.*Error: .*$/m.exec(String(output))?.[0] ?? lastLine(output);
      const by = signal === undefined ? '' : ` (${String(signal)})`;
      return `container ${String(container)} exited on its own with code ${String(code)}${by}${reason === '' ? '' : `: ${reason}`}`;
    },
  },
  {
    name: 'postStartNeverEnded',
    remedy:
      'Make the postStart hook end within a limited time. Until the hook has ended, the kubelet sends no probes to the pod and does not end the pod.',
    find(events) {
      if (first(events, 'interrupted') !== undefined) return undefined;
      const hook = events.findLast(({ kind }) => kind === 'postStartStarted' || kind === 'postStartEnded');
      return hook?.kind === 'postStartStarted'
        ? `the postStart hook of container ${String(hook.detail['container'])} was still running after ${seconds((events.at(-1)?.at ?? 0) - hook.at)}`
        : undefined;
    },
  },
  {
    name: 'portChanged',
    remedy: 'Listen on a fixed port, because a Service and the probes use the same port after a restart.',
    find(events) {
      const found = elsewhere(events)?.detail;
      return found === undefined || listensOn(events, found['port']).length === 0
        ? undefined
        : `after a restart, the server listened on port ${String(found['otherPorts'])} instead of port ${String(found['port'])}`;
    },
  },
  {
    name: 'neverReady',
    remedy:
      'Check the port and the readiness probe. The output of the command in the container shows why the server did not start.',
    find(events) {
      if (unstarted(events) !== undefined || endedItself(events) !== undefined) return undefined;
      const found = elsewhere(events)?.detail;
      if (found !== undefined && listensOn(events, found['port']).length === 0)
        return `nothing listened on port ${String(found['port'])}, but the command listens on port ${String(found['otherPorts'])}`;
      const isReady = events.some(({ kind, detail }) => kind === 'readinessChanged' && detail['isReady'] === true);
      if (isReady || ['podDeleted', 'interrupted'].some((end) => events.some(({ kind }) => kind === end)))
        return undefined;
      if (first(events, 'containerListening') === undefined) return 'the pod never listened on a port';
      const probe = events.findLast(({ kind, detail }) => kind === 'probe' && detail['result'] !== 'success')?.detail;
      const why = probe === undefined ? '' : `: ${String(probe['type'])} probe: ${lastLine(probe['output'])}`;
      return `the server listened, but the pod never became ready${why}`;
    },
  },
];

/**
 * The causes that prevent a server from serving any client. If the rehearsal finds evidence for one of these causes,
 * the verdict is `lost`. This is so even if no request was lost.
 */
export const faults: readonly string[] = [
  'onlyLoopback',
  'commandNotStarted',
  'endedItself',
  'postStartNeverEnded',
  'neverReady',
  'crashed',
];
