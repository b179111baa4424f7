// Runs one pod as the kubelet's pod worker does: it starts, probes and ends the containers.
import { systemClock } from '../../clock.ts';
import type { Container } from './container.ts';
import { PodContainer, type PodContainerOptions } from './pod-container.ts';
import { effectiveGrace, type Kill } from './termination.ts';

/** PodState contains the properties of a pod that determine the conditions of its endpoint. */
export interface PodState {
  readonly isReady: boolean;
  readonly isDeleted: boolean;
  readonly exists: boolean;
}

export interface KubeletOptions extends PodContainerOptions {
  /** onPodChange is called when the state of the pod changes. */
  readonly onPodChange: (pod: PodState) => void;
}

// Milliseconds between two relists of the kubelet. In a relist, the kubelet compares its pods with the state of the
// container runtime (K-169).
const relistPeriod = 1_000;

// Milliseconds from the start of a container to the relist in which the kubelet sees it.
const untilStartSeen = 100;

/** Kubelet runs one pod. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #containers: readonly PodContainer[];
  #state: PodState = { isReady: false, isDeleted: false, exists: true };
  // #isFrozen is true during an eviction or a node shutdown. The pod's endpoint then keeps its conditions until every
  // container has exited (K-176).
  #isFrozen = false;
  #cancelRelist: () => void = () => undefined;
  // #isSyncDue is true if the result of a probe has changed since the last relist. If it is true, the next relist
  // computes the status of the pod.
  #isSyncDue = false;
  #lastSync = Promise.resolve();
  #isEnding = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#containers = options.pod.containers.map(
      (spec) =>
        new PodContainer(spec, options, {
          onChange: () => {
            this.#isSyncDue = true;
            this.#updateReady();
          },
          inSync: (work) => this.#inSync(work),
        }),
    );
  }

  get isReady(): boolean {
    return this.#state.isReady;
  }

  /** main is the container that serves requests: the first container that is not a sidecar. */
  get main(): Container | undefined {
    return this.#main?.container;
  }

  get #main(): PodContainer | undefined {
    return this.#containers.find(({ spec }) => !spec.isSidecar);
  }

  start(): void {
    for (const container of this.#containers) container.startWorkers();
    void this.#inSync(() => this.#startNext());
  }

  /**
   * The method `delete()` ends the simulated pod in the same way as the deletion of a pod through the Kubernetes API.
   * Its promise resolves when every container of the pod has exited.
   */
  async delete(gracePeriodSeconds?: number): Promise<void> {
    const kill: Kill = { cause: 'deletion', gracePeriodSeconds };
    this.#noteEnd(kill);
    this.#update({ isDeleted: true });
    await this.#terminate(kill);
  }

  /**
   * evict ends the pod as the kubelet does in an eviction or a node shutdown. It resolves when every container has
   * exited.
   */
  async evict(kill: Kill): Promise<void> {
    this.#noteEnd(kill);
    this.#isFrozen = true;
    for (const container of this.#containers) container.stopWorkers(['readiness']);
    await this.#terminate(kill);
  }

  /**
   * failLiveness acts as if the liveness probe of the main container had failed. It resolves when the container has
   * exited.
   */
  async failLiveness(): Promise<void> {
    await this.#main?.failLiveness();
    this.#updateReady();
  }

  /** destroy kills all processes of the pod at once. It resolves when no process is left. */
  async destroy(): Promise<void> {
    this.#isEnding = true;
    this.#cancelRelist();
    await Promise.all(this.#containers.map((container) => container.destroy()));
  }

  #noteEnd(kill: Kill): void {
    const { log, pod } = this.#options;
    log.add('podDeleted', {
      cause: kill.cause,
      gracePeriodSeconds: effectiveGrace(kill, pod.terminationGracePeriodSeconds),
    });
  }

  // Runs `work` as one sync of the pod. The kubelet runs one sync of a pod at a time (K-163). If the pod is deleted,
  // the kubelet completes the running sync, and omits the syncs that have not begun (K-167).
  #inSync(work: () => Promise<void>): Promise<void> {
    this.#lastSync = this.#lastSync.then(async () => {
      if (this.#isEnding) return;
      this.#cancelRelist();
      const before = this.#containers.map(({ container }) => container);
      await work();
      for (const container of this.#containers) container.endStart();
      const hasStarted = this.#containers.some(({ container }, index) => container !== before[index]);
      this.#scheduleRelist(hasStarted ? untilStartSeen : relistPeriod);
    });
    return this.#lastSync;
  }

  async #relist(): Promise<void> {
    let hasChanged = this.#isSyncDue;
    for (const container of this.#containers) hasChanged = (await container.examine()) || hasChanged;
    this.#updateReady();
    if (hasChanged) {
      this.#isSyncDue = false;
      for (const container of this.#containers) container.pokeReadiness();
    }
    await this.#startNext();
  }

  #scheduleRelist(delay: number): void {
    if (this.#isEnding) return;
    this.#cancelRelist = systemClock.after(delay, () => {
      void this.#inSync(() => this.#relist());
    });
  }

  // Starts the containers that can start now. Each sidecar starts when the sidecar before it is up. The regular
  // containers start after the last sidecar. Each start waits for the postStart hook of the container before it (K-096).
  async #startNext(): Promise<void> {
    for (const one of this.#containers) {
      if (one.container === undefined) await one.start();
      if (one.spec.isSidecar && !one.isUp) return;
    }
  }

  async #terminate(kill: Kill): Promise<void> {
    this.#isEnding = true;
    this.#cancelRelist();
    // If the kubelet is restarting a container or waits for a postStart hook, it finishes that work before it ends the
    // pod (K-167, K-168).
    await this.#lastSync;
    for (const container of this.#containers) container.terminate();
    this.#updateReady();
    const end = (container: PodContainer, ordering?: Promise<unknown>): Promise<void> =>
      container.kill(kill, `Stopping container ${container.spec.name}`, ordering);
    const regular = this.#containers.filter(({ spec }) => !spec.isSidecar);
    let ended: Promise<unknown> = Promise.all(regular.map((container) => end(container)));
    // Sidecars get their stop signals one by one, in reverse start order (K-104). Their preStop hooks run in parallel
    // (K-105).
    for (const sidecar of this.#containers.filter(({ spec }) => spec.isSidecar).toReversed()) {
      ended = Promise.all([ended, end(sidecar, ended)]);
    }
    await ended;
    for (const container of this.#containers) container.stopWorkers();
    this.#options.log.add('podStopped');
    this.#isFrozen = false;
    this.#update({ isReady: false, exists: false });
  }

  #updateReady(): void {
    if (!this.#isFrozen) this.#update({ isReady: this.#containers.every(({ isReady }) => isReady) });
  }

  #update(change: Partial<PodState>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    const { isReady, isDeleted, exists } = this.#state;
    if (before.isReady === isReady && before.isDeleted === isDeleted && before.exists === exists) return;
    if (before.isReady !== isReady) this.#options.log.add('readinessChanged', { isReady });
    this.#options.onPodChange(this.#state);
  }
}
