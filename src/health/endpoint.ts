// One health endpoint: its checks, and the answer to a probe in the apiserver's format. It knows no transport.
import type { Clock } from '../clock.ts';
import { LameduckError } from '../errors.ts';
import { checkFunction, checkName } from '../registration.ts';
import type { Observer } from '../observer.ts';
import { runCheck, type Check, type CheckFunction, type CheckResult } from './check.ts';

/** Answer is the answer to a probe, for whatever carries it. */
export interface Answer {
  readonly status: 200 | 404 | 500;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type EndpointName = 'readyz' | 'livez' | 'healthz';

/** EndpointOptions is what the three endpoints share. */
export interface EndpointOptions {
  readonly clock: Clock;
  /** The limit of each check, in milliseconds. */
  readonly checkTimeout: number;
  readonly observer: Pick<Observer, 'onCheckChange'>;
}

/** Endpoint is `/readyz`, `/livez` or `/healthz`: closed to new checks once the server listens. */
export class Endpoint {
  readonly name: EndpointName;
  readonly #options: EndpointOptions;
  readonly #checks: Check[] = [];
  readonly #failing = new Set<string>();
  readonly #last: readonly Check[];
  #isClosed = false;

  /** `last` are checks of lameduck's own, which stand behind all others and of whose changes others tell. */
  constructor(name: EndpointName, options: EndpointOptions, ...last: Check[]) {
    this.name = name;
    this.#options = options;
    this.#last = last;
    this.add('ping', () => true);
  }

  get #all(): readonly Check[] {
    return [...this.#checks, ...this.#last];
  }

  /** add registers a check. Throws for a bad or taken name, for no function, and once the endpoint is closed. */
  add(name: string, run: CheckFunction): void {
    checkName(`a ${this.name} check`, name);
    checkFunction(`${this.name} check "${name}"`, run);
    if (this.#isClosed) {
      throw new LameduckError(
        'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
        `unable to add check "${name}": the /${this.name} endpoint has already been created; add it before listen()`,
      );
    }
    if (this.#all.some((check) => check.name === name)) {
      throw new LameduckError(
        'LAMEDUCK_ERR_NAME_TAKEN',
        `unable to add ${this.name} check "${name}": the name is taken`,
      );
    }
    this.#checks.push({ name, run });
  }

  /** close refuses further checks. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * answer runs the checks and tells the result: all of them for the endpoint's own path, one for a path below it. It
   * answers at once when every check does.
   */
  answer(path: string, query: URLSearchParams): Answer | Promise<Answer> {
    if (path === '' || path === '/') return this.#answerAll(query);
    const check = this.#all.find(({ name }) => path === `/${name}`);
    if (check === undefined) return notFound;
    const result = this.#run(check);
    return result instanceof Promise ? result.then(answerOne) : answerOne(result);
  }

  /** passes tells whether every check passes now, probed or not (P-088). */
  async passes(): Promise<boolean> {
    const results = await Promise.all(this.#all.map(async (check) => this.#run(check)));
    return results.every((result) => result === undefined);
  }

  #answerAll(query: URLSearchParams): Answer | Promise<Answer> {
    const excluded = new Set(query.getAll('exclude'));
    const isVerbose = query.has('verbose');
    const results = this.#all.map((check) => (excluded.has(check.name) ? undefined : this.#run(check)));
    const report = (all: readonly CheckResult[]): Answer => this.#report(all, excluded, isVerbose);
    return results.some((result) => result instanceof Promise)
      ? Promise.all(results.map(async (result) => result)).then(report)
      : report(results as CheckResult[]);
  }

  #report(results: readonly CheckResult[], excluded: ReadonlySet<string>, isVerbose: boolean): Answer {
    const hasFailed = results.some((result) => result !== undefined);
    if (!hasFailed && !isVerbose) return passed;
    const lines = this.#all.map(({ name }, index) => {
      if (excluded.has(name)) return `[+]${name} excluded: ok\n`;
      return results[index] === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
    });
    const unmatched = [...excluded].filter((name) => !this.#all.some((check) => check.name === name)).sort();
    if (unmatched.length > 0) {
      const names = unmatched.map((name) => JSON.stringify(name)).join(',');
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
    }
    return {
      status: hasFailed ? 500 : 200,
      headers: rootHeaders,
      body: `${lines.join('')}${this.name} check ${hasFailed ? 'failed' : 'passed'}\n`,
    };
  }

  #run(check: Check): CheckResult | Promise<CheckResult> {
    const { clock, checkTimeout } = this.#options;
    const result = runCheck(check, clock, checkTimeout);
    if (!(result instanceof Promise)) return this.#noted(check, result);
    return result.then((settled) => this.#noted(check, settled));
  }

  // The reason goes to the observer, once per change, and into no body.
  #noted(check: Check, result: CheckResult): CheckResult {
    if (this.#last.includes(check)) return result;
    if (this.#failing.has(check.name) === (result !== undefined)) return result;
    if (result === undefined) this.#failing.delete(check.name);
    else this.#failing.add(check.name);
    this.#options.observer.onCheckChange(this.name, check.name, result);
    return result;
  }
}

const plain = {
  'Content-Type': 'text/plain; charset=utf-8',
  // The apiserver's value, and no-store, so that no cache in between ever answers for us (P-086).
  'Cache-Control': 'no-cache, private, no-store',
};

const rootHeaders = { ...plain, 'X-Content-Type-Options': 'nosniff' };

const passed: Answer = { status: 200, headers: rootHeaders, body: 'ok' };

const notFound: Answer = { status: 404, headers: rootHeaders, body: '404 page not found\n' };

function answerOne(result: CheckResult): Answer {
  if (result === undefined) return { ...passed, headers: plain };
  return { status: 500, headers: rootHeaders, body: 'internal server error: reason withheld\n' };
}
