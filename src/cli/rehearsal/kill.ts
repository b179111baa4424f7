// Ends one container as the kubelet does: preStop hook, wait for other containers, stop signal, SIGKILL (K-082).
import { systemClock, wait } from '../../clock.ts';
import type { Container } from './container.ts';
import type { EventLog } from './event-log.ts';
import { runHook } from './hook.ts';
import type { ContainerSpec } from './pod.ts';
import { remaining, stopTimeout } from './termination.ts';

/** KillOptions say which container to end, and how long the container may take to end. */
export interface KillOptions {
  readonly spec: ContainerSpec;
  readonly container: Container;
  readonly gracePeriodSeconds: number;
  /** `text` is the message of the Kubernetes Event with which the kubelet reports the kill. */
  readonly text: string;
  /**
   * `ordering` resolves when every other container that must exit before this container has exited. This container then
   * gets its stop signal.
   */
  readonly ordering: Promise<unknown> | undefined;
  readonly log: EventLog;
  readonly host: string;
  /**
   * The signal `destroyed` is aborted when the rehearsal itself kills the container. Nothing then waits for the
   * container any longer.
   */
  readonly destroyed: AbortSignal;
}

/** killContainer ends a container. It resolves when the container has exited, and never rejects. */
export async function killContainer(options: KillOptions): Promise<void> {
  const { spec, container, gracePeriodSeconds, text, ordering, log, destroyed } = options;
  const { name, stopSignal } = spec;
  log.add('containerKilling', { container: name, text, gracePeriodSeconds });
  const afterHook = remaining(gracePeriodSeconds, await timed(() => runPreStop(options)));
  const afterOthers = remaining(
    afterHook,
    await timed(() => within(afterHook, ordering ?? Promise.resolve(), destroyed)),
  );
  if (container.exit !== undefined || destroyed.aborted) return;
  const timeout = stopTimeout(afterOthers);
  log.add('stopSignal', { container: name, signal: stopSignal, killAfterSeconds: timeout });
  container.signal(stopSignal);
  const ignored = ignoresNow(container, stopSignal, destroyed);
  if (await within(timeout, container.exited, destroyed)) return;
  const isStopSignalHandled = container.handles(stopSignal);
  const isHandlerLate = isStopSignalHandled === true && (await ignored) ? true : undefined;
  log.add('killSignal', { container: name, signal: stopSignal, isStopSignalHandled, isHandlerLate });
  container.killAll();
  await container.exited;
}

// How long after the stop signal the rehearsal reads the handlers of the main process again, in milliseconds. A Node
// process has a temporary handler for SIGTERM, which removes itself after the signal.
const secondLook = 200;

// Resolves with true if the main process had no handler for the stop signal when the signal arrived.
async function ignoresNow(container: Container, signal: NodeJS.Signals, destroyed: AbortSignal): Promise<boolean> {
  if (container.handles(signal) === false) return true;
  await wait(systemClock, secondLook, destroyed);
  return container.handles(signal) === false;
}

async function runPreStop({ spec, container, gracePeriodSeconds, log, host, destroyed }: KillOptions): Promise<void> {
  const { name, preStop } = spec;
  if (preStop === undefined) return;
  log.add('preStopStarted', { container: name });
  let failure: string | undefined = 'the preStop hook was still running at the end of the grace period';
  await within(
    gracePeriodSeconds,
    runHook(preStop, container, host, destroyed).then((end) => {
      failure = end.failure;
    }),
    destroyed,
  );
  if (!destroyed.aborted) log.add('preStopEnded', { container: name, failure });
}

// Resolves with true when `promise` resolves, and with false if this takes longer than `seconds`. If the rehearsal
// kills the container, resolves with true at once.
async function within(seconds: number, promise: Promise<unknown>, destroyed: AbortSignal): Promise<boolean> {
  const settled = new AbortController();
  const over = AbortSignal.any([settled.signal, destroyed]);
  void promise.then(() => {
    settled.abort();
  });
  await wait(systemClock, seconds * 1_000, over);
  return over.aborted;
}

// A Node timer may fire early by this number of milliseconds. Without this tolerance, a remaining time of one second
// could be rounded down to 0 seconds.
const timerSlack = 1;

async function timed(step: () => Promise<unknown>): Promise<number> {
  const startedAt = systemClock.now();
  await step();
  return systemClock.now() - startedAt + timerSlack;
}
