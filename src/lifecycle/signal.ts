// One lifecycle signal: it fires once and stays fired.

/** LifecycleSignal fires once and stays fired. Reading it has no effect. */
export interface LifecycleSignal<Name extends string = string> {
  /** The name of the signal, as in the apiserver. */
  readonly name: Name;
  /** Whether the signal has fired. */
  readonly hasSignaled: boolean;
  /** Resolves when the signal fires. Never rejects. */
  readonly signaled: Promise<void>;
}

/** Latch is the writing side of a LifecycleSignal. Only the graph holds it. */
export class Latch<Name extends string> implements LifecycleSignal<Name> {
  readonly name: Name;
  readonly signaled: Promise<void>;
  #resolve!: () => void;
  #hasSignaled = false;

  constructor(name: Name) {
    this.name = name;
    this.signaled = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get hasSignaled(): boolean {
    return this.#hasSignaled;
  }

  /** signal fires the signal. A second call has no effect. */
  signal(): void {
    this.#hasSignaled = true;
    this.#resolve();
  }
}
