// The verdict of a rehearsal, from its events and counts alone. Pure.
import type { ClientKind, Tally } from './clients/messages.ts';
import { causesOf, faults, mostCauses, type Cause } from './causes.ts';
import type { RehearsalEvent } from './event-log.ts';

/** Verdict says whether clients lost anything, or that the rehearsal could not keep time. */
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
  readonly scenarios: readonly ScenarioResult[];
}

/** scenarioResult judges one scenario. */
export function scenarioResult(
  { name, propagationMs }: { readonly name: string; readonly propagationMs: number },
  tallies: Readonly<Record<ClientKind, Tally>>,
  events: readonly RehearsalEvent[],
): ScenarioResult {
  const entries = Object.entries(tallies) as [ClientKind, Tally][];
  const tried = entries.filter(([, { sent }]) => sent > 0);
  const sum = (key: keyof Tally): number => tried.reduce((total, [, tally]) => total + tally[key], 0);
  const [lost, refused] = [sum('lost'), sum('refused')];
  const isDeletion = events.some(({ kind }) => kind === 'podDeleted');
  const isOverdue = isDeletion && events.some(({ kind }) => kind === 'killSignal');
  const causes = causesOf(events);
  const hasFault = causes.some((cause) => faults.includes(cause.name));
  const isDelayed = events.some(({ kind }) => kind === 'loadDelayed');
  const hasLost = lost + refused > 0 || isOverdue || hasFault;
  return {
    name,
    verdict: hasLost ? 'lost' : isDelayed ? 'withheld' : 'clean',
    propagationMs,
    requests: sum('sent'),
    ...{ lost, refused },
    clients: Object.fromEntries(tried),
    notTried: entries.filter(([, { sent }]) => sent === 0).map(([kind]) => kind),
    causes: hasLost ? causes.slice(0, mostCauses) : [],
    exit: exitOf(events),
    events,
  };
}

/** resultOf puts the results of all scenarios together. */
export function resultOf(
  scenarios: readonly ScenarioResult[],
  { seed, command }: Pick<Result, 'seed' | 'command'>,
): Result {
  const sum = (key: 'requests' | 'lost' | 'refused'): number => scenarios.reduce((total, one) => total + one[key], 0);
  const has = (verdict: Verdict): boolean => scenarios.some((one) => one.verdict === verdict);
  return {
    schema,
    verdict: has('lost') ? 'lost' : has('withheld') ? 'withheld' : 'clean',
    requests: sum('requests'),
    lost: sum('lost'),
    refused: sum('refused'),
    ...{ seed, command, scenarios },
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
