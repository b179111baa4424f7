// Answers requests on the debug socket, in a bounded time, even if the main thread is blocked.
import { timedOut, withTimeout, type Clock } from '../clock.ts';
import type { Action, Inspection, MainThreadFacts } from '../inspection.ts';
import type { Answer } from '../message.ts';

// The debug socket waits this many milliseconds for an answer of the main thread. After that, its response says that
// the event loop is blocked.
const patience = 60;

export interface DebugSocketOptions {
  readonly clock: Clock;
  /**
   * ask sends a message that requests the state of the main thread. The main thread answers with a message that has the
   * same `id`. If `action` is given, the main thread performs the action first.
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
   * note stores the state that the main thread sent `ageMs` milliseconds ago. If this state is the answer to a call of
   * `ask`, `id` is the id of that call. Otherwise, `id` is 0.
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
    if (this.#known === undefined) return problem(503, 'the main thread has not sent its state yet');
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
    // If the main thread is already blocked, its answer would arrive too late. In this case, do not wait for it.
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
