// Answers requests on the debug socket, in a bounded time, even if the main thread is blocked.
import { timedOut, withTimeout, type Clock } from '../clock.ts';
import type { Action, Inspection, MainThreadFacts } from '../inspection.ts';
import type { Answer } from '../message.ts';

// If the main thread does not answer a request on the debug socket within this many milliseconds, the event loop counts
// as blocked.
const patience = 60;

export interface DebugSocketOptions {
  readonly clock: Clock;
  /**
   * ask sends the main thread a request for its state. The main thread answers with a message that has the same `id`.
   * If `action` is given, the main thread performs the action first.
   */
  readonly ask: (id: number, action: Action | undefined) => void;
  readonly stalledMs: () => number;
  /** stack resolves with the call stack of the main thread, or rejects with the reason why the stack cannot be read. */
  readonly stack: () => Promise<readonly string[]>;
}

interface Known {
  readonly facts: MainThreadFacts;
  readonly at: number;
}

/** DebugSocket answers requests on the debug socket with the latest state that the main thread has sent. */
export class DebugSocket {
  readonly #options: DebugSocketOptions;
  readonly #asked = new Map<number, () => void>();
  #known: Known | undefined;
  #nextId = 1;

  constructor(options: DebugSocketOptions) {
    this.#options = options;
  }

  /**
   * note stores a state of the main thread that is `ageMs` milliseconds old. `id` is the id of the request for which
   * the main thread has sent this state. If the main thread has sent the state without a request, `id` is 0.
   */
  note(id: number, facts: MainThreadFacts, ageMs: number): void {
    this.#known = { facts, at: this.#options.clock.now() - ageMs };
    this.#asked.get(id)?.();
  }

  /** respond answers a request on the debug socket. It never rejects. */
  async respond(url: string, method: string): Promise<Answer> {
    const [pathname = '', ...rest] = url.split('?');
    const query = new URLSearchParams(rest.join('?'));
    const action = actionOf(pathname, query);
    if (pathname !== '/' && action === undefined)
      return problem(404, 'expected GET /, POST /shutdown, POST /ready?state=ready or POST /ready?state=unready');
    if (pathname === '/') {
      if (method !== 'GET' && method !== 'HEAD') return problem(405, 'use GET');
      return this.#inspect(query.has('stack'));
    }
    if (method !== 'POST') return problem(405, 'use POST');
    const isBlocked = !(await this.#ask(action));
    return json(202, { requested: action, isBlocked });
  }

  async #inspect(withStack: boolean): Promise<Answer> {
    const { clock, stalledMs } = this.#options;
    const isBlocked = !(await this.#ask(undefined));
    if (this.#known === undefined) return problem(503, 'the main thread has not answered yet');
    const { facts, at } = this.#known;
    const blockedMs = isBlocked ? Math.round(Math.max(patience, stalledMs())) : 0;
    const stack = withStack && (isBlocked ? await this.#stack() : { stackProblem: 'the event loop is not blocked' });
    const ageMs = Math.max(0, Math.round(clock.now() - at));
    const eventLoop = { isBlocked, blockedMs, ...stack };
    return json(200, { schema: 'lameduck/inspect/v1', ageMs, eventLoop, ...facts } satisfies Inspection);
  }

  async #stack(): Promise<Pick<Inspection['eventLoop'], 'stack' | 'stackProblem'>> {
    try {
      return { stack: await this.#options.stack() };
    } catch (error) {
      return { stackProblem: (error as Error).message };
    }
  }

  /** Requests the state of the main thread. Resolves with true if the state arrives in time. */
  async #ask(action: Action | undefined): Promise<boolean> {
    const { clock, ask, stalledMs } = this.#options;
    const id = this.#nextId++;
    const answered = new Promise<void>((resolve) => {
      this.#asked.set(id, resolve);
    });
    ask(id, action);
    // Wait for the answer only if the main thread is not already blocked. A blocked main thread would not answer in
    // time.
    const answer = await withTimeout(clock, answered, stalledMs() < patience ? patience : 0);
    this.#asked.delete(id);
    return answer !== timedOut;
  }
}

function actionOf(pathname: string, query: URLSearchParams): Action | undefined {
  if (pathname === '/shutdown') return 'shutdown';
  const state = query.get('state');
  return pathname === '/ready' && (state === 'ready' || state === 'unready') ? state : undefined;
}

function problem(status: number, text: string): Answer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

function json(status: number, value: object): Answer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: `${JSON.stringify(value)}\n` };
}
