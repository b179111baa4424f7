// How the probe thread answers: with what the main thread says, and with what is known without it when it says nothing.
import { wait, type Clock } from '../clock.ts';
import { failing, isRoot, notFound, passed } from '../health/endpoint.ts';
import { Exclusions } from '../health/exclusions.ts';
import { parseProbeUrl, type ProbeUrl } from '../health/probe-url.ts';
import { stallCheck } from '../health/stall-check.ts';
import type { Answer } from '../message.ts';
import { probePortMetricsPath } from '../settings/probe-port.ts';
import type { LastAnswer, Question, Questions } from './questions.ts';

// The main thread has so long to answer where there is a last answer, in milliseconds.
const patience = 200;

// Who asks so soon after an answer is not kept waiting for a main thread that is busy: one that does not come to the
// question in the time that it has for it, or where the last one waited longer for its turn than it ever does when idle.
const youngAge = 1_000;
const turnLimit = 2;
const busyWait = 10;

// Beside the limit of a check, whose own answer is the better one.
const checkMargin = 50;

// A scrape takes longer than a probe, and gives up after ten seconds.
const scrapePatience = 5_500;

/** ResponderOptions is what an answer is made from. Lengths of time are in milliseconds. */
export interface ResponderOptions {
  readonly clock: Clock;
  readonly questions: Questions;
  readonly stalledMs: () => number;
  readonly isShuttingDown: () => boolean;
  /** From how long a stall on an endpoint fails; 0 is never. */
  readonly readyzStallLimit: number;
  readonly livezStallLimit: number;
  /** The limit of a check. */
  readonly checkTimeout: number;
}

/** Responder answers what comes to the probe port; what carries the question and the answer is not its business. */
export class Responder {
  readonly #options: ResponderOptions;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /** respond answers every URL, in a bounded time, whatever the main thread does. It never rejects. */
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
    const answer = live ?? this.#blocked(probe, query) ?? this.#instead(probe, question);
    return this.#leaves(probe, query, answer) ? failing('readyz', probe.path, 'shutdown') : answer;
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
    // Checks that take long are waited for: what they say is news. On a busy main thread it is that which takes long.
    return soon !== undefined || isBusy || questions.isInLine(question) ? soon : this.#within(patience, question);
  }

  // A first answer is worth the time of the checks, but not that of a loop which does not turn and so runs none.
  async #first(question: Question, limit: number): Promise<Answer | undefined> {
    for (let rest = limit; rest > 0; rest -= patience) {
      const answer = await this.#within(Math.min(patience, rest), question);
      if (answer !== undefined || this.#options.stalledMs() >= patience) return answer;
    }
    return undefined;
  }

  // The live answer, if it comes in time. Who joins a question that has been waited for long enough waits no more.
  async #within(milliseconds: number, question: Question): Promise<Answer | undefined> {
    const { clock, questions } = this.#options;
    const asked = questions.ask(question);
    const since = asked?.since ?? clock.now();
    const rest = questions.last(question) === undefined ? milliseconds : since + milliseconds - clock.now();
    if (asked === undefined || rest <= 0) return undefined;
    const isOver = new AbortController();
    const late = wait(clock, rest, isOver.signal).then(() => undefined);
    const answer = await Promise.race([asked.answered, late]);
    isOver.abort();
    return answer;
  }

  /** Without a word of the main thread a process that has never said anything is alive, and not ready. */
  #instead(probe: ProbeUrl, question: Question): Answer {
    const byDefault = probe.endpoint === 'readyz' ? failing('readyz', probe.path, stallCheck) : passed;
    return this.#aged(question) ?? byDefault;
  }

  #aged(question: Question): Answer | undefined {
    const last = this.#options.questions.last(question);
    if (last === undefined) return undefined;
    const age = Math.floor((this.#options.clock.now() - last.at) / 1_000);
    return { ...last.answer, headers: { ...last.answer.headers, Age: String(age) } };
  }

  // Whoever excludes the check is told of the others alone.
  #blocked({ endpoint, path }: ProbeUrl, query: URLSearchParams): Answer | undefined {
    const { readyzStallLimit, livezStallLimit, stalledMs } = this.#options;
    const limit = endpoint === 'readyz' ? readyzStallLimit : livezStallLimit;
    if (limit === 0 || stalledMs() < limit || isExcluded(query, stallCheck)) return undefined;
    return failing(endpoint, path, stallCheck);
  }

  // An answer from before the shutdown must not be given behind its beginning (P-077).
  #leaves({ endpoint, path }: ProbeUrl, query: URLSearchParams, answer: Answer): boolean {
    if (endpoint !== 'readyz' || answer.status !== 200 || !this.#options.isShuttingDown()) return false;
    return isRoot(path) ? !isExcluded(query, 'shutdown') : path === '/shutdown';
  }
}

const unavailable: Answer = {
  status: 503,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  body: 'metrics cannot be served: the event loop is blocked\n',
};

function isExcluded(query: URLSearchParams, check: string): boolean {
  return new Exclusions(query).of({ name: check }) !== undefined;
}

// Nothing else of a query changes the answer, so that no other makes it a question of its own.
function questionOf({ endpoint, path }: ProbeUrl, query: URLSearchParams, url: string): Question {
  const excluded = [...new Set(query.getAll('exclude'))].sort();
  const isVerbose = query.has('verbose');
  const below = isRoot(path) ? '' : path;
  const key = JSON.stringify([endpoint, below, isVerbose, excluded]);
  return { key, url, method: 'GET', isUsual: below === '' && excluded.length === 0 };
}
