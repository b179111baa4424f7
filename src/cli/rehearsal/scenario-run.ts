// Runs one scenario from start to end: starts the pod and performs the actions on the pod. It passes each change of the
// pod to the simulated Service and the clients.
import { systemClock, wait, withTimeout } from '../../clock.ts';
import type { Isolation } from './container.ts';
import { leastPropagation } from './endpoints.ts';
import type { EventLog } from './event-log.ts';
import { Kubelet, type PodState } from './kubelet.ts';
import { withSidecar } from './idle-sidecar.ts';
import type { ClientKind, LoadOptions, Tally } from './load.ts';
import { unstartable, type PodSpec } from './pod.ts';
import { ServiceRoutes } from './routes.ts';
import { longestLoopDelay, longestStop, ScenarioLoad } from './scenario-load.ts';
import type { Deed, Scenario } from './scenarios.ts';
import { ServedPort } from './served-port.ts';
import { endedItself } from './start-causes.ts';
import { minimumStopTimeout } from './termination.ts';
import { sendSignal } from '../../process/send-signal.ts';

export interface RunOptions {
  readonly scenario: Scenario;
  readonly pod: PodSpec;
  /**
   * port is the port for requests. If it is undefined, requests go to the first port on which the container listens.
   */
  readonly port: number | undefined;
  readonly load: LoadOptions;
  /** propagation is the longest time until a node applies an endpoint change, in milliseconds. */
  readonly propagation: number;
  readonly random: () => number;
  readonly isolation: Isolation;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: EventLog;
  /** `interrupted` is an AbortSignal that is aborted when the user presses Ctrl-C. The scenario then ends at once. */
  readonly interrupted: AbortSignal;
}

/** longestStart is how long a pod may take to become ready, in milliseconds. */
export const longestStart = 60_000;

// How long a restarted container may take to become ready, in milliseconds.
const longestRestart = 20_000;

const pollPeriod = 50;

// Returns the time limit, in milliseconds, for the wait after the last step of a scenario. In this wait, the pod or a
// killed container ends. Without the limit, the scenario could wait forever. The kubelet sets no timeout for a
// postStart hook, and does not end a pod while its postStart hook runs (K-167).
function longestEnd({ steps }: Scenario, { terminationGracePeriodSeconds, containers }: PodSpec): number {
  const graces = containers.flatMap(({ probes }) => probes.map((probe) => probe.terminationGracePeriodSeconds ?? 0));
  const grace = Math.max(terminationGracePeriodSeconds, ...graces);
  const restart = steps.some(({ do: { kind } }) => kind === 'failLiveness') ? longestRestart : 0;
  const hook = containers.some(({ postStart }) => postStart !== undefined) ? longestStart : 0;
  // Even after the grace period, the kubelet gives each sidecar at least the minimum stop timeout between the stop
  // signal and SIGKILL (K-106).
  const floors = (1 + containers.filter(({ isSidecar }) => isSidecar).length) * minimumStopTimeout;
  return restart + hook + (grace + floors) * 1_000;
}

/**
 * longestRest returns the longest time, in milliseconds, from the readiness of the pod to the end of a scenario. If the
 * scenario does not wait until the pod is ready, the time counts from the start of the pod.
 */
export function longestRest(scenario: Scenario, pod: PodSpec, propagation: number): number {
  const { steps, endsAfter } = scenario;
  const learning = endsAfter ?? leastPropagation + propagation;
  return Math.max(...steps.map(({ at }) => at)) + longestEnd(scenario, pod) + learning + longestStop;
}

/** ScenarioRun runs one scenario. */
export class ScenarioRun {
  readonly #options: RunOptions;
  readonly #kubelet: Kubelet;
  readonly #routes: ServiceRoutes;
  readonly #load: ScenarioLoad;
  readonly #ended = new AbortController();
  readonly #served: ServedPort;
  #pod: PodState = { isReady: false, isDeleted: false, exists: true };
  #ending: Promise<void> | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    const { log, scenario, propagation, random, isolation, environment, load, port } = options;
    this.#served = new ServedPort(port, log, () => this.#kubelet.main);
    const hasOthers = scenario.hasOthers ?? true;
    const pod = this.#withDefaultProbe(options.pod);
    this.#routes = new ServiceRoutes({ propagation, hasOthers, random, log }, (routes) => {
      this.#load.routes = routes;
    });
    this.#load = new ScenarioLoad(load, log, this.#routes.current);
    this.#kubelet = new Kubelet({
      pod: scenario.needsSidecar === true ? withSidecar(pod) : pod,
      log,
      host: () => this.#served.host,
      isolation,
      environment,
      backoffScale: scenario.backoffScale ?? 1,
      onPodChange: (state) => {
        this.#pod = state;
        this.#routes.change(state);
        this.#startFirstLoad();
      },
    });
  }

  /** tallies returns the request counts for each kind of client, summed over all client threads. */
  get tallies(): Record<ClientKind, Tally> {
    return this.#load.tallies;
  }

  /** `run()` carries out the scenario. It resolves when all processes and clients of the scenario have ended. */
  async run(): Promise<void> {
    const { scenario, interrupted, log } = this.#options;
    const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
    const onInterrupted = (): void => {
      log.add('interrupted');
      stop(undefined);
    };
    interrupted.addEventListener('abort', onInterrupted, { once: true });
    const polling = this.#poll();
    try {
      this.#kubelet.start();
      const startedAt = systemClock.now();
      if (scenario.isWhileStarting !== true) await this.#untilReady(longestStart);
      const from = scenario.isWhileStarting === true ? startedAt : systemClock.now();
      const isUsable = this.#pod.isReady || scenario.isWhileStarting === true;
      if (isUsable) await this.#play(scenario, from);
      else if (!interrupted.aborted) this.#noteNotReady(longestStart);
      // After Ctrl-C, stop the scenario at once, even if the pod has not ended.
      const ended = Promise.race([this.#ending, stopped]);
      await withTimeout(systemClock, ended, longestEnd(scenario, this.#options.pod) + longestStop);
      // Let the clients continue until every node has applied the last change of the endpoints. Until then, a node may
      // still send clients to a deleted pod.
      if (isUsable) await wait(systemClock, scenario.endsAfter ?? this.#routes.untilLearnt(), interrupted);
    } finally {
      this.#ended.abort();
      await polling;
      await this.#load.stop();
      await this.#kubelet.destroy();
      interrupted.removeEventListener('abort', onInterrupted);
    }
  }

  // If there is no manifest, gives the pod a readiness probe that connects to the port on which the program listens.
  #withDefaultProbe(pod: PodSpec): PodSpec {
    const found = (): number => this.#served.port ?? 0;
    const handler = {
      kind: 'tcp',
      get port() {
        return found();
      },
    } as const;
    const containers = pod.containers.map((spec) =>
      spec.isDefault === true ? { ...spec, probes: spec.probes.map((probe) => ({ ...probe, handler })) } : spec,
    );
    return { ...pod, containers };
  }

  async #untilReady(limit: number): Promise<void> {
    const { interrupted } = this.#options;
    const until = systemClock.now() + limit;
    const canBecomeReady = (): boolean => systemClock.now() < until && !interrupted.aborted && !this.#hasFailed();
    while (!this.#pod.isReady && canBecomeReady()) await wait(systemClock, pollPeriod, interrupted);
  }

  #noteNotReady(limitMs: number): void {
    this.#options.log.add('note', { text: 'the pod did not become ready', limitMs, ...this.#served.elsewhere });
  }

  // Returns true if the command of the container cannot be started, or if the main process has exited by itself with
  // code 0. The scenario then does not wait for a restart of the container.
  #hasFailed(): boolean {
    return unstartable.includes(this.#kubelet.main?.exit?.code) || endedItself(this.#options.log.events) !== undefined;
  }

  async #play({ steps }: Scenario, from: number): Promise<void> {
    const { interrupted } = this.#options;
    for (const step of steps) {
      await wait(systemClock, Math.max(0, from + step.at - systemClock.now()), interrupted);
      if (interrupted.aborted) return;
      this.#do(step.do);
    }
  }

  #do(deed: Deed): void {
    const { log } = this.#options;
    const { main } = this.#kubelet;
    switch (deed.kind) {
      case 'delete':
        this.#ending = this.#kubelet.delete(deed.gracePeriodSeconds);
        break;
      case 'evict':
        this.#ending = this.#kubelet.evict(deed.kill);
        break;
      case 'block':
        log.add('note', { text: 'the server is blocked', deed: deed.kind });
        for (const pid of main?.pids ?? []) sendSignal(pid, 'SIGSTOP');
        break;
      case 'unblock':
        log.add('note', { text: 'the server is no longer blocked', deed: deed.kind });
        for (const pid of main?.pids ?? []) sendSignal(pid, 'SIGCONT');
        break;
      case 'failLiveness':
        // After the restart, the clients send requests until the new instance of the container is ready.
        this.#ending = this.#kubelet.failLiveness().then(async () => {
          await this.#untilReady(longestRestart);
          if (!this.#pod.isReady && !this.#options.interrupted.aborted) this.#noteNotReady(longestRestart);
        });
        break;
      case 'crash':
        log.add('note', { text: 'the rehearsal kills the main process with SIGKILL, as in a crash', deed: deed.kind });
        main?.signal('SIGKILL');
        break;
      case 'signalAgain':
        log.add('note', { text: 'the rehearsal sends a second stop signal to the main process' });
        main?.signal('SIGTERM');
        break;
      case 'overload':
        log.add('note', { text: 'the clients now send ten times the usual number of requests per second to the pod' });
        if (this.#served.port !== undefined) this.#load.start(this.#served.host, this.#served.port, 9);
        break;
      default:
        deed satisfies never;
    }
  }

  // Starts the clients as soon as the pod is ready. They need only a known port, even if the server does not listen on
  // it yet.
  #startFirstLoad(): void {
    if (!this.#pod.isReady || this.#load.hasStarted || this.#ended.signal.aborted) return;
    if (this.#served.port !== undefined) this.#load.start(this.#served.host, this.#served.port);
  }

  async #poll(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const dueAt = systemClock.now() + pollPeriod;
      if (this.#served.look()) {
        this.#load.host = this.#served.host;
        this.#startFirstLoad();
      }
      this.#routes.update();
      await wait(systemClock, pollPeriod, this.#ended.signal);
      // The simulated kubelet and the simulated Service use the timers of this thread. If this poll is late, probes,
      // kills and changes of endpoints may be equally late.
      const delayMs = systemClock.now() - dueAt;
      if (delayMs > longestLoopDelay) this.#options.log.add('kubeletDelayed', { delayMs });
    }
  }
}
