// One lifecycle signal: a named fact that becomes true once and stays true. It keeps no time and knows no other signal.

/** LifecycleSignal is a one-way latch with a name. Reading it has no effect. */
export interface LifecycleSignal<Name extends string = string> {
  /** The signal's name, spelled as the apiserver spells it. */
  readonly name: Name;
  /** Whether the fact has become true. */
  readonly hasSignaled: boolean;
  /** Resolves when the fact becomes true; never rejects. */
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

  /** signal makes the fact true; doing it twice is harmless. */
  signal(): void {
    this.#hasSignaled = true;
    this.#resolve();
  }
}
