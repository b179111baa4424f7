// One health endpoint: its checks, and the answer to a probe in the apiserver's format. It knows no transport.
import type { Clock } from '../clock.ts';
import { LameduckError } from '../errors.ts';
import type { Answer } from '../message.ts';
import type { Observer } from '../observer.ts';
import type { Check, CheckResult } from './check.ts';
import { Exclusions } from './exclusions.ts';
import { lineOf } from './report.ts';

/** EndpointName is the first part of the path. */
export type EndpointName = 'readyz' | 'livez' | 'healthz';

/** EndpointParts is what an endpoint needs, and what it reports to. */
export interface EndpointParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly observer: Pick<Observer, 'onCheckChange' | 'onCheckResult'>;
  /** Called when a probe without exclusions passes. */
  readonly onPass?: (() => void) | undefined;
}

/** LastCheck is lameduck's own check. It runs after all others have ended, and its changes are reported elsewhere. */
export interface LastCheck {
  readonly name: string;
  run(): CheckResult;
}

interface Entry {
  readonly check: Check;
  /** Until this time, in milliseconds of the clock, the check passes without a run. */
  readonly graceUntil: number;
}

/** Part is the part of one check in an answer. */
interface Part<Result> {
  readonly name: string;
  /** How the check is excluded, as written in the report. */
  readonly exclusion: string | undefined;
  readonly isRun: boolean;
  readonly result: Result;
}

/** Endpoint is `/readyz`, `/livez` or `/healthz`: closed to new checks once the server listens. */
export class Endpoint {
  readonly name: EndpointName;
  readonly #parts: EndpointParts;
  readonly #entries = new Map<string, Entry>();
  readonly #last: LastCheck | undefined;
  readonly #failing = new Set<string>();
  #isClosed = false;

  constructor(name: EndpointName, parts: EndpointParts, last?: LastCheck) {
    this.name = name;
    this.#parts = parts;
    this.#last = last;
  }

  /** checkFree throws if a name is taken or the endpoint is closed. */
  checkFree(name: string): void {
    if (this.#isClosed) {
      throw new LameduckError(
        'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
        `unable to add check "${name}": the /${this.name} endpoint has already been created; add it before listen()`,
      );
    }
    if (this.#entries.has(name) || this.#last?.name === name) {
      throw new LameduckError(
        'LAMEDUCK_ERR_NAME_TAKEN',
        `unable to add ${this.name} check "${name}": the name is taken`,
      );
    }
  }

  /** add registers a check. It passes without a run until `graceUntil`. Throws as `checkFree` does. */
  add(check: Check, graceUntil = -Infinity): void {
    this.checkFree(check.name);
    this.#entries.set(check.name, { check, graceUntil });
  }

  /** hasGroup tells whether a check is in that group. */
  hasGroup(group: string): boolean {
    return [...this.#entries.values()].some(({ check }) => check.group === group);
  }

  /** close rejects further checks. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * answer runs the checks and returns the response: all checks for the endpoint's own path, one check for a path below it.
   * The result is a promise only if a check is asynchronous.
   */
  answer(path: string, query: URLSearchParams): Answer | Promise<Answer> {
    if (isRoot(path)) return this.#answerAll(query);
    const name = path.slice(1);
    const entry = this.#entries.get(name);
    if (entry === undefined) return name === this.#last?.name ? answerOne(this.#last.run()) : notFound;
    const result = this.#isInGrace(entry) ? undefined : this.#run(entry);
    return result instanceof Promise ? result.then(answerOne) : answerOne(result);
  }

  /** passes tells whether every check, or every check of a group, passes now (P-088). */
  async passes(group?: string): Promise<boolean> {
    const entries = [...this.#entries.values()].filter(({ check }) => group === undefined || check.group === group);
    const results = await Promise.all(
      entries.map(async (entry) => (this.#isInGrace(entry) ? undefined : this.#run(entry))),
    );
    return results.every((result) => result === undefined) && this.#last?.run() === undefined;
  }

  #answerAll(query: URLSearchParams): Answer | Promise<Answer> {
    const exclusions = new Exclusions(query);
    const isVerbose = query.has('verbose');
    const parts = [...this.#entries.values()].map((entry) => this.#begin(entry, exclusions));
    const report = (settled: readonly Part<CheckResult>[]): Answer => this.#report(settled, exclusions, isVerbose);
    return parts.every(isSettled) ? report(parts) : Promise.all(parts.map(settle)).then(report);
  }

  #begin(entry: Entry, exclusions: Exclusions): Part<CheckResult | Promise<CheckResult>> {
    const exclusion = exclusions.of(entry.check);
    const isRun = exclusion === undefined && !this.#isInGrace(entry);
    return { name: entry.check.name, exclusion, isRun, result: isRun ? this.#run(entry) : undefined };
  }

  // Run after the others, so that no probe passes after ShutdownInitiated, however long the other checks took.
  #conclude(last: LastCheck, exclusions: Exclusions): Part<CheckResult> {
    const exclusion = exclusions.of(last);
    const isRun = exclusion === undefined;
    return { name: last.name, exclusion, isRun, result: isRun ? last.run() : undefined };
  }

  #report(settled: readonly Part<CheckResult>[], exclusions: Exclusions, isVerbose: boolean): Answer {
    const parts = this.#last === undefined ? settled : [...settled, this.#conclude(this.#last, exclusions)];
    for (const { name, isRun, result } of parts) {
      if (isRun) this.#parts.observer.onCheckResult(this.name, name, result === undefined);
    }
    const hasFailed = parts.some(({ result }) => result !== undefined);
    if (!hasFailed && exclusions.isEmpty) this.#parts.onPass?.();
    if (!hasFailed && !isVerbose) return passed;
    const lines = `${parts.map(lineOf).join('')}${exclusions.warning}`;
    return {
      status: hasFailed ? 500 : 200,
      headers: rootHeaders,
      body: `${lines}${this.name} check ${hasFailed ? 'failed' : 'passed'}\n`,
    };
  }

  #isInGrace({ graceUntil }: Entry): boolean {
    return this.#parts.clock.now() <= graceUntil;
  }

  #run({ check }: Entry): CheckResult | Promise<CheckResult> {
    const result = check.run();
    return result instanceof Promise
      ? result.then((settled) => this.#noted(check.name, settled))
      : this.#noted(check.name, result);
  }

  // The observer gets the reason, once per change. A response never contains it.
  #noted(name: string, result: CheckResult): CheckResult {
    // A start that has not ended is not reported. A hook that fails or takes long has a log line of its own.
    if (name.startsWith('poststarthook/')) return result;
    if (this.#failing.has(name) === (result !== undefined)) return result;
    if (result === undefined) this.#failing.delete(name);
    else this.#failing.add(name);
    this.#parts.observer.onCheckChange(this.name, name, result);
    return result;
  }
}

function isSettled(part: Part<CheckResult | Promise<CheckResult>>): part is Part<CheckResult> {
  return !(part.result instanceof Promise);
}

async function settle(part: Part<CheckResult | Promise<CheckResult>>): Promise<Part<CheckResult>> {
  return { ...part, result: await part.result };
}

/** plain is the headers of each response to a probe. */
export const plain = {
  'Content-Type': 'text/plain; charset=utf-8',
  // The apiserver's value and no-store, so that no cache answers a probe (P-086).
  'Cache-Control': 'no-cache, private, no-store',
};

const rootHeaders = { ...plain, 'X-Content-Type-Options': 'nosniff' };

/** passed is the response of an endpoint that passes. */
export const passed: Answer = { status: 200, headers: rootHeaders, body: 'ok' };

/** notFound is the response for a check that does not exist. */
export const notFound: Answer = { status: 404, headers: rootHeaders, body: '404 page not found\n' };

/** failing is the response of an endpoint if only one failing check is known. */
export function failing(endpoint: EndpointName, path: string, check: string): Answer {
  if (!isRoot(path)) return failedOne;
  const line = lineOf({ name: check, exclusion: undefined, result: new Error(check) });
  return { status: 500, headers: rootHeaders, body: `${line}${endpoint} check failed\n` };
}

/** isRoot tells whether a path below an endpoint is the endpoint's own. */
export function isRoot(path: string): boolean {
  return path === '' || path === '/';
}

const failedOne: Answer = { status: 500, headers: rootHeaders, body: 'internal server error: reason withheld\n' };

function answerOne(result: CheckResult): Answer {
  return result === undefined ? { ...passed, headers: plain } : failedOne;
}
