// Counts the events of a lifecycle for the next scrape: signals, hooks, checks and cut requests.
import type { SignalName } from '../../lifecycle/graph.ts';
import type { HookEnd, HookFailure, HookKind, Observer, SignalEvent, UnfinishedRequest } from '../../observer.ts';
import { silent } from '../logging.ts';

/** CheckResults counts how often a check has passed and how often it has failed, and has its last result. */
export interface CheckResults {
  readonly endpoint: string;
  readonly check: string;
  hasPassed: boolean;
  success: number;
  error: number;
}

/**
 * EventCounters counts the events of a lifecycle. It also stores how long the phases and the hooks of the lifecycle
 * took.
 */
export class EventCounters {
  /** phases contains each lifecycle signal that has fired, with the time since the previous signal in milliseconds. */
  readonly phases = new Map<SignalName, number>();
  readonly hooks: HookEnd[] = [];
  readonly hookFailures: Record<HookKind, number> = { 'post-start': 0, 'pre-shutdown': 0, destroy: 0 };
  readonly checks = new Map<string, CheckResults>();
  /** shutdownAt is the time at which ShutdownInitiated fired. */
  shutdownAt: number | undefined;
  requestsCut = 0;
  readonly observer: Observer;

  constructor(now: () => number) {
    this.observer = {
      ...silent,
      onSignal: ({ name, durationMs }: SignalEvent) => {
        this.phases.set(name, durationMs);
        if (name === 'ShutdownInitiated') this.shutdownAt = now();
      },
      onHookEnd: (end: HookEnd) => {
        this.hooks.push(end);
      },
      onHookFailure: ({ kind }: HookFailure) => {
        this.hookFailures[kind]++;
      },
      onCheckResult: (endpoint, check, passed) => {
        this.#noteResult(endpoint, check, passed);
      },
      onUnfinished: (requests: readonly UnfinishedRequest[]) => {
        this.requestsCut += requests.length;
      },
    };
  }

  #noteResult(endpoint: string, check: string, hasPassed: boolean): void {
    const key = `${endpoint} ${check}`;
    const results = this.checks.get(key) ?? { endpoint, check, hasPassed, success: 0, error: 0 };
    results.hasPassed = hasPassed;
    results[hasPassed ? 'success' : 'error']++;
    this.checks.set(key, results);
  }
}
