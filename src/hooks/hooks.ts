// The three kinds of hook (post-start, pre-shutdown, destroy): how each kind is registered, and in which order its
// hooks run.
import type { Clock } from '../clock.ts';
import { LameduckError } from '../errors.ts';
import { checkFunction, checkName } from '../arguments.ts';
import type { HookFailure, HookKind, Observer } from '../observer.ts';
import { formatDuration } from '../settings/duration.ts';
import { runHook, type Hook, type HookFunction, type HookLimits } from './hook.ts';

// Milliseconds after which a warning names the post-start hooks that have not ended yet.
const longestQuietStart = 30_000;

/** Hooks contains the hooks of one lifecycle, and their failures. */
export class Hooks {
  readonly failures: HookFailure[] = [];
  readonly #clock: Clock;
  readonly #observer: Pick<Observer, 'onHookEnd' | 'onHookFailure' | 'onWarning'>;
  readonly #hooks: Readonly<Record<HookKind, Hook[]>> = { 'post-start': [], 'pre-shutdown': [], destroy: [] };
  readonly #closed = new Set<HookKind>();
  /** `#running` contains each running hook, with the time at which it was called. */
  readonly #running = new Map<Hook, number>();

  constructor(clock: Clock, observer: Pick<Observer, 'onHookEnd' | 'onHookFailure' | 'onWarning'>) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /**
   * longestPreShutdown is the longest limit of the pre-shutdown hooks, in milliseconds. These hooks run in parallel
   * with the shutdown delay, so the shutdown budget reserves the longer of the two times.
   */
  get longestPreShutdown(): number {
    return Math.max(0, ...this.#hooks['pre-shutdown'].map((hook) => hook.timeout));
  }

  /** hasDestroy tells whether a destroy hook is registered. */
  get hasDestroy(): boolean {
    return this.#hooks.destroy.length > 0;
  }

  /** `running` lists the lifecycle hooks that are currently running. */
  get running(): { readonly kind: HookKind; readonly name: string; readonly ageMs: number }[] {
    const now = this.#clock.now();
    return [...this.#running].map(([{ kind, name }, since]) => ({ kind, name, ageMs: Math.round(now - since) }));
  }

  /**
   * `add()` registers a hook. It throws if the name is invalid or in use, or if `run` is not a function.
   * It also throws if the hooks of this kind have already been called.
   */
  add(kind: HookKind, name: string, run: HookFunction, timeout: number): Hook {
    checkName(`a ${kind} hook`, name);
    checkFunction(`${kind} hook "${name}"`, run);
    if (this.#closed.has(kind)) {
      throw new LameduckError(
        'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
        `unable to add ${kind} hook "${name}": the ${kind} hooks have already been called; ${whenAllowed[kind]}`,
      );
    }
    if (this.#hooks[kind].some((hook) => hook.name === name)) {
      throw new LameduckError('LAMEDUCK_ERR_NAME_TAKEN', `unable to add ${kind} hook "${name}": the name is taken`);
    }
    const hook = { kind, name, run, timeout };
    this.#hooks[kind].push(hook);
    return hook;
  }

  /**
   * `remove()` removes a hook that `add()` has registered. It is called if the hook's limit does not fit into the
   * shutdown budget.
   */
  remove(hook: Hook): void {
    this.#hooks[hook.kind].splice(this.#hooks[hook.kind].indexOf(hook), 1);
  }

  /**
   * After `close()`, `add()` throws for hooks of this kind. lameduck calls `close()` when it begins to call the hooks
   * of this kind.
   */
  close(kind: HookKind): void {
    this.#closed.add(kind);
  }

  /**
   * runPostStart starts all post-start hooks in parallel. The promise resolves when each hook has ended or
   * failed. If a shutdown begins meanwhile, `stop` aborts the `AbortSignal` of each hook. After this abort, an
   * error of a hook does not count as a failure, although the apiserver counts it.
   */
  async runPostStart(
    stop: AbortSignal,
    onDone: (name: string, failure: HookFailure | undefined) => void,
  ): Promise<void> {
    this.close('post-start');
    const unfinished = new Set(this.#hooks['post-start'].map(({ name }) => name));
    const cancelWarning = this.#warnLater(unfinished);
    stop.addEventListener('abort', cancelWarning, { once: true });
    await Promise.all(
      this.#hooks['post-start'].map(async (hook) => {
        const failure = await this.#run(hook, { limit: hook.timeout, stop });
        unfinished.delete(hook.name);
        if (unfinished.size === 0) cancelWarning();
        onDone(hook.name, failure);
      }),
    );
  }

  // Logs a warning about post-start hooks that have not ended after 30 seconds. /readyz fails until they end, and
  // without the warning, the log would not say why.
  #warnLater(unfinished: ReadonlySet<string>): () => void {
    if (unfinished.size === 0) return () => undefined;
    const warn = (): void => {
      const names = [...unfinished].map((name) => `"${name}"`).join(', ');
      this.#observer.onWarning(
        `post-start hooks have not ended after ${formatDuration(longestQuietStart)}: ${names}; /readyz fails until` +
          ' these hooks have ended. A hook that starts background work must return without waiting for that work',
      );
    };
    return this.#clock.afterUnref(longestQuietStart, warn);
  }

  /**
   * runPreShutdown starts all pre-shutdown hooks in parallel. It resolves when each hook has ended or failed (P-094,
   * P-095), or when `cut` is aborted.
   */
  async runPreShutdown(reason: string, cut: AbortSignal): Promise<void> {
    this.close('pre-shutdown');
    await Promise.all(
      this.#hooks['pre-shutdown'].map(async (hook) => {
        await this.#run(hook, { limit: hook.timeout, cut }, reason);
      }),
    );
  }

  /**
   * runDestroy calls the destroy hooks one after another, the last registered first (P-097). All hooks together get
   * `limit` milliseconds, or less if `cut` is aborted earlier. After this time, each remaining hook is still called
   * without a wait for its end, so that its synchronous part runs.
   */
  async runDestroy(reason: string, limit: number, cut: AbortSignal): Promise<void> {
    this.close('destroy');
    const end = this.#clock.now() + limit;
    for (const hook of [...this.#hooks.destroy].reverse()) {
      const left = cut.aborted ? 0 : Math.max(0, Math.min(hook.timeout, end - this.#clock.now()));
      await this.#run(hook, { limit: left, cut }, reason);
    }
  }

  async #run(hook: Hook, limits: Omit<HookLimits, 'clock'>, reason?: string): Promise<HookFailure | undefined> {
    const since = this.#clock.now();
    this.#running.set(hook, since);
    const failure = await runHook(hook, { clock: this.#clock, ...limits }, reason);
    this.#running.delete(hook);
    this.#observer.onHookEnd({ kind: hook.kind, name: hook.name, durationMs: this.#clock.now() - since });
    if (failure === undefined) return undefined;
    this.failures.push(failure);
    this.#observer.onHookFailure(failure);
    return failure;
  }
}

const whenAllowed: Readonly<Record<HookKind, string>> = {
  'post-start': 'a post-start hook must be added before listen()',
  'pre-shutdown': 'a pre-shutdown hook must be added before the shutdown begins',
  destroy: 'a destroy hook must be added before the last request has been answered',
};
