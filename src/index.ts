// The package's main export: `lameduck()` and its types.
import type { Lameduck } from './handle.ts';
import type { Server } from './http/server.ts';
import { manage, type LameduckOptions } from './manage.ts';

export { isLameduckError, LameduckError, type LameduckErrorCode } from './errors.ts';
export type { Lameduck, ShutdownOptions } from './handle.ts';
export type { CheckContext, CheckFunction, CheckOptions } from './health/check.ts';
export type { HookContext, HookFunction, HookOptions } from './hooks/hook.ts';
export type { Server } from './http/server.ts';
export type { SignalName } from './lifecycle/graph.ts';
export type { LifecycleSignal } from './lifecycle/signal.ts';
export type { LifecycleSignals } from './lifecycle/signals.ts';
export type { HookKind, ShutdownRecord, UnfinishedRequest } from './observer.ts';
export type { Logger } from './observers/logger.ts';
export type { MetricsRegistry } from './observers/metrics/registry.ts';
export type { Duration } from './settings/duration.ts';
export type { LameduckOptions } from './manage.ts';

/**
 * `lameduck()` gives a server the lifecycle of a Kubernetes apiserver. The lifecycle starts when the program calls
 * `listen()` of the server, and a process signal such as SIGTERM drains the server. Pass several servers as an array to
 * drain them together, and an empty array for a process without a server. Throws LAMEDUCK_ERR_SETTINGS_INVALID with
 * every problem, LAMEDUCK_ERR_BUDGET_TOO_SHORT, LAMEDUCK_ERR_SERVER_INVALID, LAMEDUCK_ERR_SERVER_CLOSED or
 * LAMEDUCK_ERR_SERVER_TAKEN. An error leaves the server unchanged.
 */
export function lameduck(server: Server | readonly Server[], options: LameduckOptions = {}): Lameduck {
  return manage((Array.isArray(server) ? server : [server]) as readonly Server[], options, process.env).parts.handle;
}
