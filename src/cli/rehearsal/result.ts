// The verdict of a rehearsal, from its events and counts alone. Pure.
import type { ClientKind, Tally } from './clients/messages.ts';
import { causesOf, faults, mostCauses, type Cause } from './causes.ts';
import type { EventKind, RehearsalEvent } from './event-log.ts';

/** Verdict says whether clients lost anything, or that the rehearsal cannot tell. */
export type Verdict = 'clean' | 'lost' | 'withheld';

/** ScenarioExit is how the serving container ended after the stop signal. */
export interface ScenarioExit {
  readonly code: number;
  readonly signal: string | undefined;
  /** Milliseconds from the stop signal. */
  readonly afterMs: number;
}

/** ScenarioResult is the result of one scenario. */
export interface ScenarioResult {
  readonly name: string;
  readonly verdict: Verdict;
  /** Why the verdict is withheld. */
  readonly reason: string | undefined;
  readonly propagationMs: number;
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  readonly clients: Readonly<Partial<Record<ClientKind, Tally>>>;
  readonly notTried: readonly ClientKind[];
  readonly causes: readonly Cause[];
  readonly exit: ScenarioExit | undefined;
  readonly events: readonly RehearsalEvent[];
}

/** schema names the form of the JSON result. */
export const schema = 'lameduck/rehearsal/v1';

/** Result is the result of a rehearsal, in the form of its JSON. */
export interface Result {
  readonly schema: typeof schema;
  readonly verdict: Verdict;
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  readonly seed: number;
  readonly command: readonly string[];
  /** How many planned scenarios Ctrl-C has left out. */
  readonly leftOut: number;
  readonly scenarios: readonly ScenarioResult[];
}

/** ScenarioFacts is what the verdict depends on beyond events and counts. */
export interface ScenarioFacts {
  readonly name: string;
  readonly propagationMs: number;
  /** Whether the pod ends before it is ready, so that no request is expected. */
  readonly isWhileStarting?: boolean;
}

/** scenarioResult judges one scenario. */
export function scenarioResult(
  { name, propagationMs, isWhileStarting = false }: ScenarioFacts,
  tallies: Readonly<Record<ClientKind, Tally>>,
  events: readonly RehearsalEvent[],
): ScenarioResult {
  const entries = Object.entries(tallies) as [ClientKind, Tally][];
  const tried = entries.filter(([, { sent }]) => sent > 0);
  const sum = (key: keyof Tally): number => tried.reduce((total, [, tally]) => total + tally[key], 0);
  const [lost, refused] = [sum('lost'), sum('refused')];
  const end = events.findIndex(({ kind }) => kind === 'interrupted');
  // After an interruption the rehearsal itself kills the containers.
  const judged = end === -1 ? events : events.slice(0, end + 1);
  const isDeletion = judged.some(({ kind }) => kind === 'podDeleted');
  const isOverdue = isDeletion && judged.some(({ kind }) => kind === 'killSignal');
  const causes = causesOf(judged);
  const hasFault = causes.some((cause) => faults.includes(cause.name));
  const reason = whyWithheld(judged, tried.length > 0 || isWhileStarting);
  const hasLost = lost + refused > 0 || isOverdue || hasFault;
  return {
    name,
    verdict: hasLost ? 'lost' : reason === undefined ? 'clean' : 'withheld',
    reason: hasLost ? undefined : reason,
    propagationMs,
    requests: sum('sent'),
    ...{ lost, refused },
    clients: Object.fromEntries(tried),
    notTried: entries.filter(([, { sent }]) => sent === 0).map(([kind]) => kind),
    causes: hasLost ? causes.slice(0, mostCauses) : [],
    exit: exitOf(judged),
    events,
  };
}

// A run that proves nothing is not clean.
function whyWithheld(events: readonly RehearsalEvent[], hasTried: boolean): string | undefined {
  const has = (wanted: EventKind): boolean => events.some(({ kind }) => kind === wanted);
  if (has('interrupted')) return 'the rehearsal was interrupted';
  if (!hasTried) return 'no request was sent';
  return has('loadDelayed') ? 'this machine was too busy to keep time' : undefined;
}

/** resultOf puts the results of all scenarios together. */
export function resultOf(
  scenarios: readonly ScenarioResult[],
  { seed, command, leftOut }: Pick<Result, 'seed' | 'command' | 'leftOut'>,
): Result {
  const sum = (key: 'requests' | 'lost' | 'refused'): number => scenarios.reduce((total, one) => total + one[key], 0);
  const has = (verdict: Verdict): boolean => scenarios.some((one) => one.verdict === verdict);
  return {
    schema,
    verdict: has('lost') ? 'lost' : has('withheld') || leftOut > 0 ? 'withheld' : 'clean',
    requests: sum('requests'),
    lost: sum('lost'),
    refused: sum('refused'),
    ...{ seed, command, leftOut, scenarios },
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
