// Helpers for tests of hooks. The time limits of the hooks use a fake clock. The helpers report whether the run of a
// hook succeeded or failed.
import assert from 'node:assert/strict';
import { isLameduckError } from '../../src/errors.ts';
import type { Hook, HookFunction } from '../../src/hooks/hook.ts';
import { Hooks } from '../../src/hooks/hooks.ts';
import type { HookFailure, HookKind } from '../../src/observer.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingObserver } from './recording-observer.ts';

export function hookOf(run: HookFunction): Hook {
  return { kind: 'destroy', name: 'pool', run, timeout: 3_000 };
}

export function hangs(): Promise<never> {
  return new Promise(() => undefined);
}

/**
 * outcomeOf returns an object that is empty until the hook has ended. The object then gets the field `failure`, which
 * is undefined if the hook has succeeded.
 */
export function outcomeOf(run: Promise<HookFailure | undefined>): { failure?: HookFailure | undefined } {
  const outcome: { failure?: HookFailure | undefined } = {};
  void run.then((failure) => (outcome.failure = failure));
  return outcome;
}

export function codeOf(failure: HookFailure | undefined): string {
  assert.ok(isLameduckError(failure?.error), 'the hook must have failed');
  return failure.error.code;
}

export class WarnedObserver extends RecordingObserver {
  readonly warnings: string[] = [];

  override onWarning(message: string): void {
    this.warnings.push(message);
  }
}

export interface HooksUnderTest {
  readonly hooks: Hooks;
  readonly clock: FakeClock;
  readonly observer: WarnedObserver;
  /** The texts that the hooks of a test have added when they ran, in the order of the runs. */
  readonly notes: string[];
}

export function createHooks(): HooksUnderTest {
  const clock = new FakeClock();
  const observer = new WarnedObserver();
  return { hooks: new Hooks(clock, observer), clock, observer, notes: [] };
}

/** `noting()` returns a hook. The hook adds `note` to `notes`, and then calls `work`. */
export function noting(notes: string[], note: string, work: () => unknown): () => unknown {
  return () => {
    notes.push(note);
    return work();
  };
}

export const never = new AbortController().signal;
export const kinds: readonly HookKind[] = ['post-start', 'pre-shutdown', 'destroy'];

export function runAll(hooks: Hooks, kind: HookKind): Promise<void> {
  if (kind === 'post-start') return hooks.runPostStart(never, () => undefined);
  return kind === 'pre-shutdown' ? hooks.runPreShutdown('test', never) : hooks.runDestroy('test', 3_000, never);
}
