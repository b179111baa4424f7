// Derives the verdict of a rehearsal from its events and counts. No side effects.
import { causesOf, mostCauses, type Cause } from './causes.ts';
import { changesFor, type RehearsedManifest } from './changes.ts';
import type { EventKind, RehearsalEvent } from './event-log.ts';
import type { ClientKind, Tally } from './load.ts';
import { notesOf } from './notes.ts';
import { faults } from './start-causes.ts';

/**
 * Verdict is `clean` if no request was lost or refused, and `lost` if a request was lost or refused. It is `withheld`
 * if the rehearsal cannot prove either.
 */
export type Verdict = 'clean' | 'lost' | 'withheld';

/** ScenarioExit says how the serving container exited after its stop signal. */
export interface ScenarioExit {
  readonly code: number;
  readonly signal: string | undefined;
  /** afterMs is the time from the stop signal to the exit, in milliseconds. */
  readonly afterMs: number;
}

/** FoundCause is a cause of losses in a scenario. */
export interface FoundCause extends Cause {
  /**
   * `changes` lists those fields of `Result.changes` whose change would remove this cause. `resultOf()` adds these
   * fields.
   */
  readonly changes: readonly string[];
}

/** ScenarioResult is the result of one scenario. */
export interface ScenarioResult {
  readonly name: string;
  readonly verdict: Verdict;
  /** `reason` says why the rehearsal cannot give a verdict. It is undefined unless `verdict` is `withheld`. */
  readonly reason: string | undefined;
  readonly propagationMs: number;
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  readonly clients: Readonly<Partial<Record<ClientKind, Tally>>>;
  readonly notTried: readonly ClientKind[];
  readonly causes: readonly FoundCause[];
  /**
   * `notes` says what happened to the pod before its shutdown, such as a failed readiness probe. It also says whether
   * requests failed while the rehearsal itself was late.
   */
  readonly notes: readonly string[];
  readonly exit: ScenarioExit | undefined;
  readonly events: readonly RehearsalEvent[];
}

/** schema names the version of the JSON result. */
export const schema = 'lameduck/rehearsal/v1';

/** Result is the result of a rehearsal. `--json` writes it. */
export interface Result {
  readonly schema: typeof schema;
  readonly verdict: Verdict;
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  readonly seed: number;
  readonly command: readonly string[];
  /** leftOut is the number of planned scenarios that did not run because of Ctrl-C. */
  readonly leftOut: number;
  /**
   * changes lists the fields of the manifest to change for all scenarios, such as `pod.yaml:4
   * spec.terminationGracePeriodSeconds: 30 -> 45`. It contains each field once.
   */
  readonly changes: readonly string[];
  readonly scenarios: readonly ScenarioResult[];
}

/**
 * ScenarioFacts contains the values, other than the events and the request counts, from which scenarioResult() computes
 * the result of a scenario.
 */
export interface ScenarioFacts {
  readonly name: string;
  readonly propagationMs: number;
  /**
   * isWhileStarting is true if the scenario ends the pod before the pod is ready. Such a scenario gets a verdict even
   * if clients sent no request.
   */
  readonly isWhileStarting?: boolean;
}

/** scenarioResult returns the result of one scenario, with its verdict. */
export function scenarioResult(
  { name, propagationMs, isWhileStarting = false }: ScenarioFacts,
  tallies: Readonly<Record<ClientKind, Tally>>,
  events: readonly RehearsalEvent[],
): ScenarioResult {
  const entries = Object.entries(tallies) as [ClientKind, Tally][];
  const tried = entries.filter(([, { sent }]) => sent > 0);
  const sum = (key: keyof Tally): number => tried.reduce((total, [, tally]) => total + tally[key], 0);
  const lost = sum('lost');
  const refused = sum('refused');
  const judged = judgedIn(events);
  const isDeletion = judged.some(({ kind }) => kind === 'podDeleted');
  const isOverdue = isDeletion && judged.some(({ kind }) => kind === 'killSignal');
  const causes = causesOf(judged);
  const hasFault = causes.some((cause) => faults.includes(cause.name));
  const reason = whyWithheld(judged, tried.length > 0 || isWhileStarting, unansweredOf(tried));
  const hasLost = lost + refused > 0 || isOverdue || hasFault;
  return {
    name,
    verdict: hasLost ? 'lost' : reason === undefined ? 'clean' : 'withheld',
    reason: hasLost ? undefined : reason,
    propagationMs,
    requests: sum('sent'),
    lost,
    refused,
    clients: Object.fromEntries(tried),
    notTried: entries.filter(([, { sent }]) => sent === 0).map(([kind]) => kind),
    causes: hasLost ? causes.slice(0, mostCauses).map((cause) => ({ ...cause, changes: [] })) : [],
    notes: notesOf(judged),
    exit: exitOf(judged),
    events,
  };
}

// Returns the events until the user pressed Ctrl-C. After that, the rehearsal itself kills the containers, so later
// events say nothing about the program.
function judgedIn(events: readonly RehearsalEvent[]): readonly RehearsalEvent[] {
  const end = events.findIndex(({ kind }) => kind === 'interrupted');
  return end === -1 ? events : events.slice(0, end + 1);
}

// Returns the reason why the rehearsal gives no verdict, or undefined. A run that proves nothing must not count as
// clean.
function whyWithheld(events: readonly RehearsalEvent[], hasTried: boolean, unanswered: number): string | undefined {
  const has = (wanted: EventKind): boolean => events.some(({ kind }) => kind === wanted);
  if (has('interrupted')) return 'the rehearsal was interrupted';
  if (!hasTried) return 'no request was sent';
  if (unanswered > 0) return `${String(unanswered)} requests had no response at the end of the scenario`;
  return has('loadDelayed') ? 'this machine was too busy to time the requests exactly' : undefined;
}

// Returns the number of requests that had no response when the rehearsal stopped its clients. Long polls are not
// counted, because a server delays their responses on purpose.
function unansweredOf(tallies: readonly (readonly [ClientKind, Tally])[]): number {
  return tallies
    .filter(([kind]) => kind !== 'longPoll')
    .reduce((total, [, { sent, answered, lost, refused }]) => total + sent - answered - lost - refused, 0);
}

/**
 * RehearsalFacts contains the values, other than the results of the scenarios, from which resultOf() computes the
 * result of a rehearsal.
 */
export interface RehearsalFacts extends Pick<Result, 'seed' | 'command' | 'leftOut'> {
  /** manifest contains the pod, if the pod was read from a manifest. */
  readonly manifest?: RehearsedManifest | undefined;
}

/** resultOf combines the results of all scenarios. */
export function resultOf(
  scenarios: readonly ScenarioResult[],
  { seed, command, leftOut, manifest }: RehearsalFacts,
): Result {
  const sum = (key: 'requests' | 'lost' | 'refused'): number => scenarios.reduce((total, one) => total + one[key], 0);
  const has = (verdict: Verdict): boolean => scenarios.some((one) => one.verdict === verdict);
  const evidence = scenarios.flatMap(({ name, causes, events }) =>
    causes.map((cause) => ({ cause: cause.name, scenario: name, events: judgedIn(events) })),
  );
  const changes = manifest === undefined ? undefined : changesFor(evidence, manifest);
  const byCause = changes?.byCause.values();
  return {
    schema,
    verdict: has('lost') ? 'lost' : has('withheld') || leftOut > 0 ? 'withheld' : 'clean',
    requests: sum('requests'),
    lost: sum('lost'),
    refused: sum('refused'),
    seed,
    command,
    leftOut,
    changes: changes?.all ?? [],
    scenarios: scenarios.map((scenario) => ({
      ...scenario,
      causes: scenario.causes.map((cause) => ({ ...cause, changes: byCause?.next().value ?? [] })),
    })),
  };
}

function exitOf(events: readonly RehearsalEvent[]): ScenarioExit | undefined {
  const signal = events.find(({ kind }) => kind === 'stopSignal');
  const exit = events.find(
    ({ kind, at, detail }) =>
      kind === 'containerExited' &&
      at >= (signal?.at ?? Infinity) &&
      detail['container'] === signal?.detail['container'],
  );
  if (signal === undefined || exit === undefined) return undefined;
  const { code, signal: name } = exit.detail;
  return {
    code: Number(code),
    signal: name === undefined ? undefined : String(name),
    afterMs: Math.round(exit.at - signal.at),
  };
}
