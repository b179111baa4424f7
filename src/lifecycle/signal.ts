// One lifecycle signal: it fires once and never resets.

/** LifecycleSignal is one of the eight signals of a lifecycle. It fires once and never resets. */
export interface LifecycleSignal<Name extends string = string> {
  /** `name` is the name of the lifecycle signal. The kube-apiserver uses the same names. */
  readonly name: Name;
  /** hasSignaled tells whether this lifecycle signal has fired. */
  readonly hasSignaled: boolean;
  /** `signaled` resolves when this lifecycle signal fires. It never rejects. */
  readonly signaled: Promise<void>;
}

/** Latch is a LifecycleSignal with the method that fires it. Only the lifecycle may call that method. */
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

  /** `signal()` fires the lifecycle signal. A second call has no effect. */
  signal(): void {
    this.#hasSignaled = true;
    this.#resolve();
  }
}
