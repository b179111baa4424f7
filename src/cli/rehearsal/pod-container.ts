// Manages one container of the rehearsed pod: starts and restarts the container, runs its probes, and kills it after
// failed probes.
import { systemClock, type Clock } from '../../clock.ts';
import { backoffDefaults, delayUntil, stepped, type Backoff } from './backoff.ts';
import { Container, type Exit, type Isolation } from './container.ts';
import type { EventLog } from './event-log.ts';
import { runHook } from './hook.ts';
import { killContainer } from './kill.ts';
import { probeOf, shouldRestart, type ContainerSpec, type PodSpec, type Probe } from './pod.ts';
import type { ProbeType, Published } from './streak.ts';
import { effectiveGrace, type Kill } from './termination.ts';
import { Worker } from './worker.ts';

export interface PodContainerOptions {
  readonly pod: PodSpec;
  readonly log: EventLog;
  /** host returns the IP address of the pod. */
  readonly host: () => string;
  readonly isolation: Isolation;
  readonly environment: NodeJS.ProcessEnv;
  /** backoffScale is the number by which the back-off delays are divided, to shorten a rehearsal. */
  readonly backoffScale: number;
}

/**
 * PodSync connects a container with the syncs of its pod. In a sync, the simulated kubelet starts, restarts or ends the
 * containers of the pod.
 */
export interface PodSync {
  /** onChange is called when the result of a probe changes the state of the container. */
  readonly onChange: () => void;
  /** inSync runs `work` as a sync of the pod, after all syncs that were requested earlier have ended. */
  readonly inSync: (work: () => Promise<void>) => Promise<void>;
}

const probeTypes: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];

/** PodContainer runs one container and restarts it as the kubelet does, until the pod ends. */
export class PodContainer {
  readonly spec: ContainerSpec;
  readonly #options: PodContainerOptions;
  readonly #clock: Clock = systemClock;
  readonly #sync: PodSync;
  readonly #workers = new Map<ProbeType, Worker>();
  #container: Container | undefined;
  #startedAt = 0;
  #isStarted = false;
  // #isNoticed is true if the kubelet has seen the current instance of the container running in a relist. In a relist,
  // the kubelet periodically reads the state of all containers.
  #isNoticed = false;
  // #isStarting is true until the kubelet's pass over the pod (sync) that starts the current instance has ended. The
  // sync includes the postStart hooks of all containers that it starts. Until the sync has ended, the kubelet neither
  // probes the container nor counts it as running (K-096).
  #isStarting = false;
  readonly #destroyed = new AbortController();
  #backoff: Backoff | undefined;
  // #finishedAt is the time at which the last instance exited.
  #finishedAt = -Infinity;
  #isWaiting = false;
  #restarts = 0;

  constructor(spec: ContainerSpec, options: PodContainerOptions, sync: PodSync) {
    this.spec = spec;
    this.#options = options;
    this.#sync = sync;
  }

  /**
   * container is the current instance of the container. If that instance has exited, it is still returned until the
   * next instance starts.
   */
  get container(): Container | undefined {
    return this.#container;
  }

  get isReady(): boolean {
    if (this.#container === undefined || this.#exit !== undefined || !this.#isStarted || this.#isStarting) return false;
    const readiness = this.#workers.get('readiness');
    // Without a readiness probe, a container is ready when the kubelet has listed the containers again and has seen
    // that this container runs (K-059).
    return readiness === undefined ? this.#isNoticed : readiness.published === 'success';
  }

  /**
   * isUp tells whether the containers after a sidecar may start: a relist has seen the sidecar running, and its startup
   * probe has succeeded.
   */
  get isUp(): boolean {
    return this.#isNoticed && this.#isStarted && this.#exit === undefined;
  }

  /** startWorkers creates the probe workers before the container starts (K-039). */
  startWorkers(): void {
    for (const type of probeTypes) {
      const probe = probeOf(this.spec, type);
      if (probe !== undefined) this.#workers.set(type, this.#worker(probe));
    }
  }

  /** start starts a new instance. It resolves when the postStart hook of that instance has ended. */
  async start(): Promise<void> {
    if (this.#destroyed.signal.aborted) return;
    const { isolation, environment, log } = this.#options;
    const { name, command, env, probes, isSidecar } = this.spec;
    const container = new Container({ command, env: { ...environment, ...env }, isolation });
    this.#container = container;
    this.#startedAt = this.#clock.now();
    this.#isStarting = true;
    this.#isNoticed = false;
    this.#isStarted = !probes.some(({ type }) => type === 'startup');
    const { hasNamespace } = container;
    log.add('containerStarted', { container: name, restarts: this.#restarts, hasNamespace, isSidecar });
    void container.exited.then((exit) => {
      this.#finishedAt = this.#clock.now();
      const reason = exit.code === 0 ? 'Completed' : 'Error';
      const output = exit.code === 0 ? undefined : container.output.slice(-1_000);
      log.add('containerExited', { container: name, ...exit, reason, output });
    });
    await this.#runPostStart(container);
  }

  /**
   * endStart notes that the start of the container is complete. The simulated kubelet calls endStart at the end of each
   * of its passes over the pod (sync).
   */
  endStart(): void {
    this.#isStarting = false;
  }

  /**
   * examine restarts the container if it has exited, as the kubelet does in each relist. It resolves with true if the
   * state of the container has changed.
   */
  async examine(): Promise<boolean> {
    if (this.#container === undefined) return false;
    const exit = this.#exit;
    if (exit !== undefined) {
      this.#noteExit();
      const before = this.#restarts;
      await this.#restart(exit, this.#finishedAt);
      return this.#restarts > before;
    }
    const isNew = !this.#isNoticed;
    this.#isNoticed = true;
    return isNew;
  }

  /**
   * If the container has started but is not ready, pokeReadiness sends a readiness probe. The rehearsal calls it
   * whenever it computes the status of the pod, because a real kubelet also sends this probe then (K-046).
   */
  pokeReadiness(): void {
    const readiness = this.#workers.get('readiness');
    if (this.#isStarted && this.#exit === undefined && readiness?.published === 'failure') readiness.poke();
  }

  /**
   * terminate stops the startup and liveness probes of a regular container. It is called when the pod ends, before the
   * containers are killed.
   */
  terminate(): void {
    // The kubelet publishes the status of the pod before it ends the containers (K-079).
    this.#isNoticed = this.#container !== undefined;
    // The probes of a sidecar continue until every container has exited (K-080).
    if (!this.spec.isSidecar) this.stopWorkers(['startup', 'liveness']);
  }

  /**
   * kill ends the container and resolves when it has exited. If the container has already exited, kill runs no preStop
   * hook and sends no signal (K-087).
   */
  async kill(kill: Kill, text: string, ordering?: Promise<unknown>): Promise<void> {
    const { log, host, pod } = this.#options;
    const container = this.#container;
    if (container === undefined || container.exit !== undefined) return;
    const gracePeriodSeconds = effectiveGrace(kill, pod.terminationGracePeriodSeconds);
    await killContainer({
      spec: this.spec,
      container,
      gracePeriodSeconds,
      text,
      ordering,
      log,
      host: host(),
      destroyed: this.#destroyed.signal,
    });
  }

  /**
   * failLiveness kills the container, as the kubelet does after a failed liveness probe. It resolves when the container
   * has exited.
   */
  async failLiveness(): Promise<void> {
    await this.#killAfterProbe('liveness', probeOf(this.spec, 'liveness')?.terminationGracePeriodSeconds);
  }

  stopWorkers(types: readonly ProbeType[] = probeTypes): void {
    for (const type of types) this.#workers.get(type)?.stop();
  }

  /** destroy kills every process of the container at once. It resolves when no process is left. */
  async destroy(): Promise<void> {
    this.stopWorkers();
    this.#destroyed.abort();
    this.#container?.killAll();
    await this.#container?.exited;
  }

  get #exit(): Exit | undefined {
    return this.#container?.exit;
  }

  #worker(probe: Probe): Worker {
    const { host, log } = this.#options;
    return new Worker({
      name: this.spec.name,
      probe,
      host,
      log,
      target: () => ({
        container: this.#exit === undefined && !this.#isStarting ? this.#container : undefined,
        startedAt: this.#startedAt,
        isStarted: this.#isStarted,
      }),
      onChange: (published) => {
        this.#onProbeChange(probe, published);
      },
    });
  }

  #onProbeChange({ type, terminationGracePeriodSeconds }: Probe, published: Published): void {
    if (type === 'startup' && published === 'success') {
      this.#isStarted = true;
      this.#options.log.add('containerStartedCondition', { container: this.spec.name });
      this.#workers.get('readiness')?.poke();
    }
    if (type !== 'readiness' && published === 'failure' && this.#exit === undefined) {
      void this.#killAfterProbe(type, terminationGracePeriodSeconds);
    }
    // A successful liveness probe changes nothing, so only its failure is reported.
    if (type !== 'liveness' || published === 'failure') this.#sync.onChange();
  }

  async #runPostStart(container: Container): Promise<void> {
    const { postStart, name } = this.spec;
    if (postStart === undefined) return;
    const { log, host } = this.#options;
    log.add('postStartStarted', { container: name });
    const { failure } = await runHook(postStart, container, host(), this.#destroyed.signal);
    if (this.#destroyed.signal.aborted) return;
    log.add('postStartEnded', { container: name, failure });
    // If the postStart hook fails, the kubelet kills the container. It restarts the container in a later sync, as after
    // a crash.
    if (failure !== undefined) await this.kill({ cause: 'deletion' }, 'FailedPostStartHook');
  }

  // Kills the container after a failed probe and restarts it in the same pod. Meanwhile, the kubelet still sends
  // readiness probes, and the endpoint of the pod does not change until a readiness probe fails (K-062). If the pod is
  // deleted while the container is ending, the kubelet still restarts the container, and then ends the new instance
  // (K-168).
  #killAfterProbe(type: 'liveness' | 'startup', gracePeriodSeconds: number | undefined): Promise<void> {
    const failed = this.#container;
    return this.#sync.inSync(async () => {
      if (failed === undefined || this.#container !== failed || failed.exit !== undefined) return;
      // If the kubelet kills an instance of the container, the back-off delay counts from the exit of the instance
      // before the killed one (K-148).
      const finishedBefore = this.#finishedAt;
      if (this.#isLast) await this.#killAsPod();
      else {
        const text = `Container ${this.spec.name} failed ${type} probe${this.#suffix}`;
        await this.kill({ cause: 'probe', type, gracePeriodSeconds }, text);
      }
      const exit = this.#exit;
      if (exit === undefined) return;
      this.#noteExit();
      await this.#restart(exit, finishedBefore);
    });
  }

  get #isRestarted(): boolean {
    return this.spec.isSidecar || this.#options.pod.restartPolicy !== 'Never';
  }

  get #suffix(): string {
    return this.#isRestarted ? ', will be restarted' : '';
  }

  // Tells whether the container is the only container of the pod and will not be restarted. If such a container fails
  // a probe, the kubelet ends the whole pod, within the pod's grace period.
  get #isLast(): boolean {
    return !this.#isRestarted && this.#options.pod.containers.length === 1;
  }

  #killAsPod(): Promise<void> {
    return this.kill({ cause: 'deletion' }, `Stopping container ${this.spec.name}`);
  }

  #noteExit(): void {
    for (const worker of this.#workers.values()) worker.noteExit();
  }

  async #restart(exit: Exit, finishedAt: number): Promise<void> {
    const { pod, log, backoffScale } = this.#options;
    const { spec } = this;
    const now = this.#clock.now();
    if (this.#destroyed.signal.aborted || !shouldRestart(pod, spec, exit.code)) return;
    const delay = delayUntil(this.#backoff, finishedAt, now);
    if (delay > 0) {
      if (!this.#isWaiting) log.add('containerBackOff', { container: spec.name, delayMs: delay * backoffScale });
      this.#isWaiting = true;
      return;
    }
    this.#isWaiting = false;
    const { initial, maximum } = backoffDefaults;
    const limits = { initial: initial / backoffScale, maximum: maximum / backoffScale };
    // If no earlier instance has exited, the kubelet creates no back-off entry (K-148).
    if (finishedAt !== -Infinity) this.#backoff = stepped(this.#backoff, finishedAt, now, limits);
    this.#restarts++;
    await this.start();
  }
}
