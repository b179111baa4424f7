// Answers requests to the probe port. The main thread computes the answer. If the answer is late, the probe thread
// repeats the main thread's last answer to the same request.
import { timedOut, withTimeout, type Clock } from '../clock.ts';
import { failing, isRoot, notFound, passed } from '../health/endpoint.ts';
import { Exclusions } from '../health/exclusions.ts';
import { parseProbeUrl, type ProbeUrl } from '../health/probe-url.ts';
import { isStalled, shutdownName, stallName } from '../health/readyz.ts';
import type { Answer } from '../message.ts';
import { probePortMetricsPath } from '../settings/probe-port.ts';
import type { LastAnswer, Question, Questions } from './questions.ts';

// How long the probe thread waits for the main thread's answer to a probe, in milliseconds. After that, it repeats the
// main thread's last answer to the same probe.
const patience = 200;

// If the main thread is busy, the probe thread reuses the main thread's last answer to the same probe. This answer must
// be younger than `youngAge` milliseconds. The main thread is busy if it has not begun to answer the forwarded probe
// within `turnLimit` milliseconds. It is also busy if the most recently answered request had waited for it longer than
// `busyWait` milliseconds.
const youngAge = 1_000;
const turnLimit = 2;
const busyWait = 10;

// How much longer than the time limit of a health check the probe thread waits for the main thread's answer, in
// milliseconds. If a check times out, the main thread's answer contains this result. With the additional time, this
// answer still arrives before the probe thread stops waiting.
const checkMargin = 50;

// How long a scrape on the probe port waits for the main thread, in milliseconds. This is less than ten seconds, after
// which Prometheus gives up on a scrape by default.
const scrapePatience = 5_500;

/** ResponderOptions are the options of Responder. Durations are in milliseconds. */
export interface ResponderOptions {
  readonly clock: Clock;
  readonly questions: Questions;
  readonly stalledMs: () => number;
  readonly isShuttingDown: () => boolean;
  /**
   * readyzStallLimit is the time for which the event loop must be blocked before /readyz fails. livezStallLimit is the
   * same for /livez and /healthz. With a limit of 0, a blocked event loop never makes these endpoints fail.
   */
  readonly readyzStallLimit: number;
  readonly livezStallLimit: number;
  /** checkTimeout is the time limit of each health check. */
  readonly checkTimeout: number;
}

export class Responder {
  readonly #options: ResponderOptions;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /** respond answers a request for any URL in a bounded time, even if the main thread is blocked. It never rejects. */
  async respond(url: string, method: string): Promise<Answer> {
    const probe = parseProbeUrl(url);
    if (probe !== undefined) return this.#probe(probe, url);
    const [path = ''] = url.split('?', 1);
    return path === probePortMetricsPath || path === `${probePortMetricsPath}/slis`
      ? this.#scrape(path, method)
      : notFound;
  }

  async #probe(probe: ProbeUrl, url: string): Promise<Answer> {
    const query = new URLSearchParams(probe.query);
    const known = this.#blocked(probe, query);
    if (known !== undefined) return known;
    const question = questionOf(probe, query, url);
    const last = this.#options.questions.last(question);
    const live = await this.#ask(question, last);
    const answer = live ?? this.#blocked(probe, query) ?? this.#lastOrDefault(probe, question);
    return this.#isOutdated(probe, query, answer) ? failing('readyz', probe.path, shutdownName) : answer;
  }

  async #scrape(path: string, method: string): Promise<Answer> {
    const read = method === 'HEAD' ? 'GET' : method;
    const question = { key: `${read} ${path}`, url: path, method: read, isUsual: read === 'GET' };
    const live = await this.#within(scrapePatience, question);
    return live ?? this.#aged(question) ?? unavailable;
  }

  async #ask(question: Question, last: LastAnswer | undefined): Promise<Answer | undefined> {
    const { clock, checkTimeout, questions, stalledMs } = this.#options;
    if (last === undefined) return this.#first(question, checkTimeout + checkMargin);
    if (stalledMs() >= patience) return this.#within(0, question);
    if (clock.now() - last.at >= youngAge) return this.#within(patience, question);
    const isBusy = questions.waitedMs > busyWait;
    const soon = await this.#within(isBusy ? 0 : turnLimit, question);
    // If the main thread has begun to answer the forwarded probe, wait for its health checks. If it has not begun, it
    // is busy, and its last answer is used instead.
    return soon !== undefined || isBusy || questions.isInLine(question) ? soon : this.#within(patience, question);
  }

  // Waits for the main thread's first answer to a probe, at most for the time limit of the health checks. If the event
  // loop is blocked, the function stops waiting, because no health check can run.
  async #first(question: Question, limit: number): Promise<Answer | undefined> {
    for (let rest = limit; rest > 0; rest -= patience) {
      const answer = await this.#within(Math.min(patience, rest), question);
      if (answer !== undefined || this.#options.stalledMs() >= patience) return answer;
    }
    return undefined;
  }

  // Returns the main thread's answer to a probe or scrape, or undefined if the answer does not arrive within
  // `milliseconds`. The time begins when the first unanswered request for this URL was forwarded. If the main thread
  // has never answered this URL, the time begins with this call.
  async #within(milliseconds: number, question: Question): Promise<Answer | undefined> {
    const { clock, questions } = this.#options;
    const asked = questions.ask(question);
    const since = asked?.since ?? clock.now();
    const rest = questions.last(question) === undefined ? milliseconds : since + milliseconds - clock.now();
    if (asked === undefined || rest <= 0) return undefined;
    const answer = await withTimeout(clock, asked.answered, rest);
    return answer === timedOut ? undefined : answer;
  }

  /**
   * Returns the main thread's last answer for this probe URL. If the main thread has never answered this URL, /readyz
   * fails and every other endpoint passes.
   */
  #lastOrDefault(probe: ProbeUrl, question: Question): Answer {
    const byDefault = probe.endpoint === 'readyz' ? failing('readyz', probe.path, stallName) : passed;
    return this.#aged(question) ?? byDefault;
  }

  #aged(question: Question): Answer | undefined {
    const last = this.#options.questions.last(question);
    if (last === undefined) return undefined;
    const age = Math.floor((this.#options.clock.now() - last.at) / 1_000);
    return { ...last.answer, headers: { ...last.answer.headers, Age: String(age) } };
  }

  // Returns the response of a failing endpoint if the event loop has been blocked for at least the stall limit of this
  // endpoint. Otherwise, it returns undefined. It also returns undefined if the probe excludes the check `event-loop`.
  #blocked({ endpoint, path }: ProbeUrl, query: URLSearchParams): Answer | undefined {
    const { readyzStallLimit, livezStallLimit, stalledMs } = this.#options;
    const limit = endpoint === 'readyz' ? readyzStallLimit : livezStallLimit;
    if (!isStalled(stalledMs(), limit) || isExcluded(query, stallName)) return undefined;
    return failing(endpoint, path, stallName);
  }

  // Tells whether the main thread answered /readyz with 200 before ShutdownInitiated fired. Such an answer is outdated
  // (P-077).
  #isOutdated({ endpoint, path }: ProbeUrl, query: URLSearchParams, answer: Answer): boolean {
    if (endpoint !== 'readyz' || answer.status !== 200 || !this.#options.isShuttingDown()) return false;
    return isRoot(path) ? !isExcluded(query, shutdownName) : path === `/${shutdownName}`;
  }
}

const unavailable: Answer = {
  status: 503,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  body: 'unable to serve metrics: the event loop is blocked\n',
};

function isExcluded(query: URLSearchParams, check: string): boolean {
  return new Exclusions(query).of({ name: check }) !== undefined;
}

// Creates the message in which the probe thread requests the result of a probe from the main thread. Probes with the
// same key share one answer. Only the parameters `exclude` and `verbose` change that answer, so the key contains no
// other parameters.
function questionOf({ endpoint, path }: ProbeUrl, query: URLSearchParams, url: string): Question {
  const excluded = [...new Set(query.getAll('exclude'))].sort();
  const isVerbose = query.has('verbose');
  const below = isRoot(path) ? '' : path;
  const key = JSON.stringify([endpoint, below, isVerbose, excluded]);
  return { key, url, method: 'GET', isUsual: below === '' && excluded.length === 0 };
}
