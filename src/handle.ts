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
import { checkOptions, readLimit } from './registration.ts';
import { checkBudget, type ExplainedBudget } from './settings/budget.ts';
import { formatDuration, type Duration } from './settings/duration.ts';
import type { Settings } from './settings/table.ts';
import type { Shutdown } from './shutdown.ts';
import type { Startup } from './startup.ts';

const longestReason = 1_000;

/** ShutdownOptions is what a call of `shutdown` may say beside the reason. */
export interface ShutdownOptions {
  /** All the time that the shutdown has from now on, if that is less than what is left of its budget (K-166). */
  readonly budget?: Duration;
}

/** AnyRequest is a request over HTTP/1.1 or HTTP/2; with the core API of HTTP/2, its stream. */
export type AnyRequest = IncomingMessage | Http2ServerRequest | ServerHttp2Stream;

/** Lameduck is the handle of one lifecycle. */
export interface Lameduck {
  /** The eight signals; they are the whole state. */
  readonly signals: LifecycleSignals;
  /** Resolves with the record of the shutdown when it has ended, whoever began it. */
  readonly ended: Promise<ShutdownRecord>;
  /**
   * shutdown begins the shutdown, or joins the one that runs, and resolves with its record. It never ends the process. A
   * later call can only shorten the budget. Throws LAMEDUCK_ERR_TIMEOUT_INVALID for a budget that is no duration.
   */
  shutdown(reason?: string, options?: ShutdownOptions): Promise<ShutdownRecord>;
  /** addReadyzCheck adds a check to /readyz; it has to be added before the server listens. */
  addReadyzCheck(name: string, check: CheckFunction, options?: CheckOptions): void;
  /**
   * addLivezCheck adds a check to /livez and /healthz; it has to be added before the server listens. One that looks
   * like a dependency is warned about (P-089).
   */
  addLivezCheck(name: string, check: CheckFunction, options?: CheckOptions): void;
  /** addPostStartHook registers what runs once the server listens; /readyz is red until it has ended well. */
  addPostStartHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /** addPreShutdownHook registers what runs beside the delay, while everything is still served. */
  addPreShutdownHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /** addDestroyHook registers what runs after the last request; the last registered runs first (A-018, P-097). */
  addDestroyHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /**
   * abortSignal returns the AbortSignal of a request of `node:http`, `node:http2` or Fastify, made when it is first asked for. It is
   * aborted when its client goes away, when the request is long-running and its turn in the drain has come, or when the
   * drain's time is up (P-028). Throws LAMEDUCK_ERR_REQUEST_INVALID for anything else.
   */
  abortSignal(request: AnyRequest | { readonly raw: AnyRequest }): AbortSignal;
}

/** HandleParts is what the handle reads, drives and registers with. */
export interface HandleParts {
  readonly settings: Settings;
  /** The division of the grace period, with the hooks that are registered by now. */
  readonly budget: () => ExplainedBudget;
  readonly lifecycle: Pick<Lifecycle, 'signals'>;
  readonly hooks: Hooks;
  readonly health: Health;
  readonly traffic: Traffic;
  readonly startup: Startup;
  readonly shutdown: Shutdown;
}

/** createHandle makes the handle of a lifecycle. */
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
  // One that was injected in process has no class in common with the others; a stream of HTTP/2 stands for its request.
  const isRequest = typeof request === 'object' && request !== null && ('url' in request || 'rstCode' in request);
  if (isRequest) return request;
  throw new LameduckError('LAMEDUCK_ERR_REQUEST_INVALID', `abortSignal: ${quoted(given)}: expected a request`);
}

// It stands in the log, and is what a program makes of it: mostly text, sometimes the error that made it give up.
function readReason(given: unknown): string {
  return given === undefined ? 'shutdown()' : messageOf(given).slice(0, longestReason);
}

function readBudget(options: ShutdownOptions | undefined): number | undefined {
  checkOptions('the shutdown', options, ['budget']);
  return options?.budget === undefined ? undefined : readLimit('budget of the shutdown', options.budget);
}
