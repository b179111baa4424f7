// One health endpoint: it runs its checks and returns the response to a probe, in the format of the apiserver.
import type { Clock } from '../clock.ts';
import { LameduckError } from '../errors.ts';
import type { Answer } from '../message.ts';
import type { Observer } from '../observer.ts';
import type { Check, CheckResult } from './check.ts';
import { Exclusions } from './exclusions.ts';
import { lineOf } from './report.ts';

/** EndpointName is the first segment of the path of a health endpoint. */
export type EndpointName = 'readyz' | 'livez' | 'healthz';

export interface EndpointParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly observer: Pick<Observer, 'onCheckChange' | 'onCheckResult'>;
  /** onPass is called when a probe of all checks passes, if the probe has no parameter `exclude`. */
  readonly onPass?: (() => void) | undefined;
}

/**
 * LastCheck is the type of lameduck's own check `shutdown`, which runs after all other checks of the endpoint have
 * ended. lameduck does not log changes of its result.
 */
export interface LastCheck {
  readonly name: string;
  run(): CheckResult;
}

interface Entry {
  readonly check: Check;
  /**
   * graceUntil is the end of the check's grace period, as a time of the clock in milliseconds. Before this time, the
   * check passes without being run.
   */
  readonly graceUntil: number;
  /**
   * isPresent tells whether the check currently exists. While isPresent returns false, the endpoint neither runs nor
   * lists the check.
   */
  readonly isPresent: () => boolean;
}

const always = (): boolean => true;

/** Part is the result of one check, as part of the response to a probe. */
interface Part<Result> {
  readonly name: string;
  /**
   * `exclusion` says how the probe excluded the check: `excluded` by the name of the check, or `excluded with GROUP` by
   * the name of its group. It is undefined if the probe did not exclude the check.
   */
  readonly exclusion: string | undefined;
  readonly isRun: boolean;
  readonly result: Result;
}

/** Endpoint is `/readyz`, `/livez` or `/healthz`. It rejects new checks once the server listens. */
export class Endpoint {
  readonly name: EndpointName;
  readonly #parts: EndpointParts;
  readonly #entries = new Map<string, Entry>();
  readonly #last: LastCheck | undefined;
  readonly #failing = new Set<string>();
  // #isClosed is true when no more checks can be added to the endpoint. It becomes true when the server listens, before
  // the log line `lifecycle started` and before MuxAndDiscoveryComplete.
  #isClosed = false;

  constructor(name: EndpointName, parts: EndpointParts, last?: LastCheck) {
    this.name = name;
    this.#parts = parts;
    this.#last = last;
  }

  /** checkFree throws if the endpoint already has a check with this name, or if the endpoint accepts no more checks. */
  checkFree(name: string): void {
    if (this.#isClosed) {
      throw new LameduckError(
        'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
        `unable to add check "${name}": the /${this.name} endpoint accepts no more checks; add the check before listen()`,
      );
    }
    if (this.#entries.has(name) || this.#last?.name === name) {
      throw new LameduckError(
        'LAMEDUCK_ERR_NAME_TAKEN',
        `unable to add ${this.name} check "${name}": the name is taken`,
      );
    }
  }

  /**
   * `add()` registers a check for this endpoint. It throws if the name is in use or the endpoint is closed. Until the
   * time `graceUntil`, the check passes without being run. While `isPresent` returns false, the endpoint ignores the
   * check.
   */
  add(check: Check, graceUntil = -Infinity, isPresent = always): void {
    this.checkFree(check.name);
    this.#entries.set(check.name, { check, graceUntil, isPresent });
  }

  get #present(): Entry[] {
    return [...this.#entries.values()].filter(({ isPresent }) => isPresent());
  }

  hasGroup(group: string): boolean {
    return [...this.#entries.values()].some(({ check }) => check.group === group);
  }

  /** `close()` ends the registration of checks. After it, `add()` throws an error. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * `answer()` runs checks and returns the response to a probe. A probe of the endpoint's path runs all checks, and a
   * probe of a path below it runs one check. The result is a promise only if a check is asynchronous.
   */
  answer(path: string, query: URLSearchParams): Answer | Promise<Answer> {
    if (isRoot(path)) return this.#answerAll(query);
    const name = path.slice(1);
    const entry = this.#entries.get(name);
    if (entry?.isPresent() !== true) return name === this.#last?.name ? answerOne(this.#last.run()) : notFound;
    const result = this.#isInGrace(entry) ? undefined : this.#run(entry);
    return result instanceof Promise ? result.then(answerOne) : answerOne(result);
  }

  /** `passes()` tells whether every check of the endpoint, or of one group, passes now (P-088). */
  async passes(group?: string): Promise<boolean> {
    const entries = this.#present.filter(({ check }) => group === undefined || check.group === group);
    const results = await Promise.all(
      entries.map(async (entry) => (this.#isInGrace(entry) ? undefined : this.#run(entry))),
    );
    return results.every((result) => result === undefined) && this.#last?.run() === undefined;
  }

  #answerAll(query: URLSearchParams): Answer | Promise<Answer> {
    const exclusions = new Exclusions(query);
    const isVerbose = query.has('verbose');
    const parts = this.#present.map((entry) => this.#begin(entry, exclusions));
    const report = (settled: readonly Part<CheckResult>[]): Answer => this.#report(settled, exclusions, isVerbose);
    return parts.every(isSettled) ? report(parts) : Promise.all(parts.map(settle)).then(report);
  }

  #begin(entry: Entry, exclusions: Exclusions): Part<CheckResult | Promise<CheckResult>> {
    const exclusion = exclusions.of(entry.check);
    const isRun = exclusion === undefined && !this.#isInGrace(entry);
    return { name: entry.check.name, exclusion, isRun, result: isRun ? this.#run(entry) : undefined };
  }

  // Runs the check `shutdown` after all other checks have ended. The probe thus fails even if the shutdown has begun
  // while the other checks were running.
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

  // Reports a change of a check's result to the log, with the reason of a failure. A response to a probe never
  // contains the reason.
  #noted(name: string, result: CheckResult): CheckResult {
    // Do not log that the check of a running post-start hook fails. If the hook fails or takes long, a separate log
    // line reports this.
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

/** `plain` contains the headers that every response to a probe has. */
export const plain = {
  'Content-Type': 'text/plain; charset=utf-8',
  // The value of `Cache-Control` that the apiserver sends, with `no-store` added, so that no cache answers a probe
  // (P-086).
  'Cache-Control': 'no-cache, private, no-store',
};

const rootHeaders = { ...plain, 'X-Content-Type-Options': 'nosniff' };

/** `passed` is the response of an endpoint whose checks all pass. */
export const passed: Answer = { status: 200, headers: rootHeaders, body: 'ok' };

/** notFound is the response to a probe of a check that does not exist. */
export const notFound: Answer = { status: 404, headers: rootHeaders, body: '404 page not found\n' };

/**
 * `failing()` returns the response 500 of an endpoint of which one check is known to fail. The response lists no other
 * check, because the others were not run.
 */
export function failing(endpoint: EndpointName, path: string, check: string): Answer {
  if (!isRoot(path)) return failedOne;
  const line = lineOf({ name: check, exclusion: undefined, result: new Error(check) });
  return { status: 500, headers: rootHeaders, body: `${line}${endpoint} check failed\n` };
}

/**
 * isRoot tells whether a probe runs all checks of the endpoint, not a single one: the path below the endpoint is then
 * empty.
 */
export function isRoot(path: string): boolean {
  return path === '' || path === '/';
}

const failedOne: Answer = { status: 500, headers: rootHeaders, body: 'internal server error: reason withheld\n' };

function answerOne(result: CheckResult): Answer {
  return result === undefined ? { ...passed, headers: plain } : failedOne;
}
