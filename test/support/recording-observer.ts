// An Observer that records every call, in order.
import type {
  HookEnd,
  HookFailure,
  Observer,
  ShutdownRecord,
  StepFailure,
  SignalEvent,
  UnfinishedRequest,
} from '../../src/observer.ts';
import type { SignalName } from '../../src/lifecycle/graph.ts';

export class RecordingObserver implements Observer {
  readonly signals: SignalEvent[] = [];
  readonly hookEnds: HookEnd[] = [];
  readonly hookFailures: HookFailure[] = [];
  readonly stepFailures: StepFailure[] = [];
  readonly checkChanges: string[] = [];
  /**
   * One entry for each check that ran in a probe of a whole endpoint, such as /readyz. A probe of a single check adds
   * no entry.
   */
  readonly checkResults: string[] = [];
  readonly unfinished: UnfinishedRequest[] = [];
  readonly records: ShutdownRecord[] = [];

  /** `order` lists the lifecycle signals that have fired, in the order in which they fired. */
  get order(): SignalName[] {
    return this.signals.map(({ name }) => name);
  }

  onWarning(message: string): void {
    throw new Error(`unexpected warning: ${message}`);
  }

  onSignal(event: SignalEvent): void {
    this.signals.push(event);
  }

  onHookEnd(end: HookEnd): void {
    this.hookEnds.push(end);
  }

  onHookFailure(failure: HookFailure): void {
    this.hookFailures.push(failure);
  }

  onStepFailure(failure: StepFailure): void {
    this.stepFailures.push(failure);
  }

  onCheckChange(endpoint: string, check: string, reason: Error | undefined): void {
    this.checkChanges.push(`${endpoint} ${check}: ${reason?.message ?? 'passes'}`);
  }

  onCheckResult(endpoint: string, check: string, passed: boolean): void {
    this.checkResults.push(`${endpoint} ${check}: ${passed ? 'passed' : 'failed'}`);
  }

  onUnfinished(requests: readonly UnfinishedRequest[]): void {
    this.unfinished.push(...requests);
  }

  onEnd(record: ShutdownRecord): void {
    this.records.push(record);
  }
}
