// The handle: what `lameduck()` returns.
import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2';
import { LameduckError, messageOf, quoted } from './errors.ts';
import type { CheckFunction, CheckOptions } from './health/check.ts';
import type { Health } from './health/health.ts';
import type { HookFunction, HookOptions } from './hooks/hook.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { Traffic } from './http/traffic.ts';
import type { Lifecycle, LifecycleSignals } from './lifecycle/signals.ts';
import type { HookKind, ShutdownRecord } from './observer.ts';
import { checkOptions, readLimit } from './arguments.ts';
import { checkBudget, type ExplainedBudget } from './settings/budget.ts';
import { formatDuration, type Duration } from './settings/duration.ts';
import type { Settings } from './settings/table.ts';
import type { Shutdown } from './shutdown.ts';
import type { Startup } from './startup.ts';

const longestReason = 1_000;

/** ShutdownOptions limits how long a shutdown takes. */
export interface ShutdownOptions {
  /**
   * `budget` is the maximum duration of the shutdown from this call on, such as `5s`. The default is the rest of the
   * shutdown budget.
   */
  readonly budget?: Duration;
}

/** AnyRequest is a request over HTTP/1.1 or HTTP/2, or a stream of HTTP/2's core API. */
export type AnyRequest = IncomingMessage | Http2ServerRequest | ServerHttp2Stream;

/** Lameduck is the handle of one lifecycle. */
export interface Lameduck {
  /**
   * `signals` contains the eight signals of the lifecycle, such as `signals.shutdownInitiated`. The signals that have
   * fired show how far the lifecycle has come.
   */
  readonly signals: LifecycleSignals;
  /** `ended` resolves when the shutdown has ended, with the record of the shutdown. It never rejects. */
  readonly ended: Promise<ShutdownRecord>;
  /**
   * `shutdown()` begins the shutdown, or joins a shutdown in progress, and resolves with the record of the shutdown. It
   * does not end the process. A later call can only shorten the budget. Throws LAMEDUCK_ERR_TIMEOUT_INVALID if `budget`
   * is not a duration.
   */
  shutdown(reason?: string, options?: ShutdownOptions): Promise<ShutdownRecord>;
  /** addReadyzCheck adds a check to /readyz. Call it before the server listens. */
  addReadyzCheck(name: string, check: CheckFunction, options?: CheckOptions): void;
  /**
   * addLivezCheck adds a check to /livez and /healthz. Call it before the server listens. The kubelet restarts the
   * container if /livez fails, so a name that looks like a dependency, such as a database, causes a warning.
   */
  addLivezCheck(name: string, check: CheckFunction, options?: CheckOptions): void;
  /** addPostStartHook adds a hook that runs when the server listens. /readyz fails until the hook has succeeded. */
  addPostStartHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /**
   * addPreShutdownHook adds a hook that runs at the beginning of the shutdown, in parallel with the shutdown delay. The
   * server serves every request until the delay and all pre-shutdown hooks have ended.
   */
  addPreShutdownHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /**
   * addDestroyHook adds a hook that runs after the last request has been answered. Destroy hooks run one after another,
   * the last added first.
   */
  addDestroyHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /**
   * abortSignal returns the AbortSignal of a request of `node:http`, `node:http2` or Fastify. Each call for a request
   * returns the same signal. lameduck aborts the signal when the client disconnects, or when the time for the drain is
   * over. If the request is long-running, lameduck also aborts the signal when the drain ends the request. Throws
   * LAMEDUCK_ERR_REQUEST_INVALID if the argument is not a request.
   */
  abortSignal(request: AnyRequest | { readonly raw: AnyRequest }): AbortSignal;
}

export interface HandleParts {
  readonly settings: Settings;
  /**
   * `budget()` returns how the grace period is divided into shutdown delay, hooks and drain. The result includes only
   * the hooks that were registered before the call of `budget()`.
   */
  readonly budget: () => ExplainedBudget;
  readonly lifecycle: Pick<Lifecycle, 'signals'>;
  readonly hooks: Hooks;
  readonly health: Health;
  readonly traffic: Traffic;
  readonly startup: Startup;
  readonly shutdown: Shutdown;
}

export function createHandle({
  settings,
  budget,
  lifecycle,
  hooks,
  health,
  traffic,
  startup,
  shutdown,
}: HandleParts): Lameduck {
  const addHook = (kind: HookKind, name: string, run: HookFunction, options: HookOptions | undefined): void => {
    const hook = hooks.add(kind, name, run, timeoutOf(kind, name, options, settings));
    try {
      if (kind === 'post-start') startup.addPostStartCheck(name);
      if (kind === 'pre-shutdown') checkBudget(budget());
    } catch (error) {
      hooks.remove(hook);
      throw error;
    }
  };

  return {
    signals: lifecycle.signals,
    ended: shutdown.ended,
    shutdown: (reason, options) => shutdown.begin(readReason(reason), { budget: readBudget(options) }),
    addReadyzCheck: (name, check, options) => {
      health.addReadyz(name, check, options);
    },
    addLivezCheck: (name, check, options) => {
      health.addLivez(name, check, options);
    },
    addPostStartHook: (name, hook, options) => {
      addHook('post-start', name, hook, options);
    },
    addPreShutdownHook: (name, hook, options) => {
      addHook('pre-shutdown', name, hook, options);
    },
    addDestroyHook: (name, hook, options) => {
      addHook('destroy', name, hook, options);
    },
    abortSignal: (request) => traffic.requests.abortSignal(readRequest(request)),
  };
}

function timeoutOf(kind: HookKind, name: string, options: HookOptions | undefined, settings: Settings): number {
  const what = `${kind} hook ${quoted(name)}`;
  checkOptions(what, options, ['timeout']);
  const { destroyHookTimeout, preShutdownHookTimeout } = settings;
  const byDefault = { 'post-start': Infinity, 'pre-shutdown': preShutdownHookTimeout, destroy: destroyHookTimeout }[
    kind
  ];
  if (options?.timeout === undefined) return byDefault;
  const timeout = readLimit(`timeout of ${what}`, options.timeout);
  if (kind !== 'destroy' || timeout <= destroyHookTimeout) return timeout;
  throw new LameduckError(
    'LAMEDUCK_ERR_TIMEOUT_INVALID',
    `timeout of ${what}: ${quoted(options.timeout)}: expected at most destroyHookTimeout, ${formatDuration(destroyHookTimeout)}`,
  );
}

function readRequest(given: unknown): object {
  const request = (given as { raw?: unknown } | null | undefined)?.raw ?? given;
  // Recognize a request by its properties, because a request of `app.inject()` is an instance of no class of Node. The
  // caller may also pass an HTTP/2 stream instead of a request.
  const isRequest = typeof request === 'object' && request !== null && ('url' in request || 'rstCode' in request);
  if (isRequest) return request;
  throw new LameduckError('LAMEDUCK_ERR_REQUEST_INVALID', `abortSignal: ${quoted(given)}: expected a request`);
}

// Returns the reason of the shutdown as text for the log. The parameter `given` is the reason that the program passed:
// a text or an error.
function readReason(given: unknown): string {
  return given === undefined ? 'shutdown()' : messageOf(given).slice(0, longestReason);
}

function readBudget(options: ShutdownOptions | undefined): number | undefined {
  checkOptions('the shutdown', options, ['budget']);
  return options?.budget === undefined ? undefined : readLimit('budget of the shutdown', options.budget);
}
