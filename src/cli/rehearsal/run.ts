// Runs one scenario from start to end: the pod, its Service, its clients, and the actions on the pod.
import { systemClock, wait, withTimeout } from '../../clock.ts';
import { Load } from './clients/load.ts';
import { clientKinds, newTallies, type ClientKind, type LoadOptions, type Tally } from './clients/messages.ts';
import type { Isolation } from './container.ts';
import type { EventLog } from './event-log.ts';
import { Kubelet, type PodState } from './kubelet.ts';
import { withSidecar } from './idle-sidecar.ts';
import type { PodSpec } from './pod.ts';
import { listenersOf, type Listener } from './processes.ts';
import { ServiceRoutes } from './routes.ts';
import type { Deed, Scenario } from './scenarios.ts';
import { sendSignal } from '../../process/send-signal.ts';

export interface RunOptions {
  readonly scenario: Scenario;
  readonly pod: PodSpec;
  /**
   * port is the port for requests. If it is undefined, requests go to the first port on which the container listens.
   */
  readonly port: number | undefined;
  readonly load: LoadOptions;
  /** propagation is the longest time in which a node applies an endpoint change, in milliseconds. */
  readonly propagation: number;
  readonly random: () => number;
  readonly isolation: Isolation;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: EventLog;
  /** interrupted is aborted by Ctrl-C. The scenario then ends at once. */
  readonly interrupted: AbortSignal;
}

// The IP address of the rehearsed pod. It is a loopback address, because everything runs on this machine.
const podHost = '127.0.0.1';

// How long a pod may take to become ready, in milliseconds.
const longestStart = 60_000;

// How long a restarted container may take to become ready, in milliseconds.
const longestRestart = 20_000;

const pollPeriod = 50;

// At most this many losses are recorded as events, which bounds the memory. All losses are counted.
const mostLossEvents = 200;

/** totalOf returns the sum of several tallies. */
export function totalOf(tallies: Iterable<Tally>): Tally {
  const total: Tally = { sent: 0, answered: 0, lost: 0, refused: 0, failed: 0 };
  for (const tally of tallies) {
    for (const key of Object.keys(total) as (keyof Tally)[]) total[key] += tally[key];
  }
  return total;
}

/** ScenarioRun runs one scenario. */
export class ScenarioRun {
  readonly #options: RunOptions;
  readonly #kubelet: Kubelet;
  readonly #routes: ServiceRoutes;
  readonly #loads: Load[] = [];
  readonly #ended = new AbortController();
  #listener: Listener | undefined;
  #isListening = false;
  #loopbackSince: number | undefined;
  #pod: PodState = { isReady: false, isDeleted: false, exists: true };
  #ending: Promise<void> | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    const { log, scenario, propagation, random, isolation, environment } = options;
    const hasOthers = scenario.hasOthers ?? true;
    const pod = this.#withDefaultProbe(options.pod);
    this.#routes = new ServiceRoutes({ propagation, hasOthers, random, log }, (routes) => {
      for (const load of this.#loads) load.routes = routes;
    });
    this.#kubelet = new Kubelet({
      pod: scenario.needsSidecar === true ? withSidecar(pod) : pod,
      log,
      host: () => this.#host,
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

  /** tallies returns the counts for each kind of client, summed over all loads that were started. */
  get tallies(): Record<ClientKind, Tally> {
    const sums = newTallies();
    for (const kind of clientKinds) sums[kind] = totalOf(this.#loads.map(({ tallies }) => tallies[kind]));
    return sums;
  }

  /** run runs the scenario. It resolves when all its processes and clients have ended. */
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
      else if (!interrupted.aborted) this.#noteNeverReady();
      // After Ctrl-C, do not wait for the grace period.
      await Promise.race([this.#ending, stopped]);
      // Until every node has applied the last change, a node may still send clients to a deleted pod.
      if (isUsable) await wait(systemClock, scenario.endsAfter ?? this.#routes.untilLearnt(), interrupted);
    } finally {
      this.#ended.abort();
      await polling;
      await this.#stopLoads();
      await this.#kubelet.destroy();
      interrupted.removeEventListener('abort', onInterrupted);
    }
  }

  // If there is no manifest, gives the pod a readiness probe that connects to the port on which the program listens.
  #withDefaultProbe(pod: PodSpec): PodSpec {
    const found = (): number => this.#port ?? 0;
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
    const canBecomeReady = (): boolean => systemClock.now() < until && !interrupted.aborted && !this.#isUnstartable();
    while (!this.#pod.isReady && canBecomeReady()) await wait(systemClock, pollPeriod, interrupted);
  }

  #noteNeverReady(): void {
    const ports = new Set(listenersOf(this.#kubelet.main?.pids ?? []).map(({ port }) => port));
    const others = [...ports].filter((port) => port !== this.#port).join(', ');
    this.#options.log.add('note', {
      text: 'the pod did not become ready',
      limitMs: longestStart,
      ...(others === '' || this.#port === undefined ? {} : { port: this.#port, otherPorts: others }),
    });
  }

  // Tells whether the command of the container cannot be started. A shell then exits with 127, and another start would
  // not help.
  #isUnstartable(): boolean {
    return this.#kubelet.main?.exit?.code === 127;
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
      case 'unblock':
        log.add('note', { text: deed.kind === 'block' ? 'the server is blocked' : 'the server is no longer blocked' });
        for (const pid of main?.pids ?? []) sendSignal(pid, deed.kind === 'block' ? 'SIGSTOP' : 'SIGCONT');
        break;
      case 'failLiveness':
        // The scenario continues until the new container is ready.
        this.#ending = this.#kubelet.failLiveness().then(() => this.#untilReady(longestRestart));
        break;
      case 'crash':
        log.add('note', { text: 'the main process is killed, as in a crash' });
        main?.signal('SIGKILL');
        break;
      case 'signalAgain':
        log.add('note', { text: 'a second stop signal is sent' });
        main?.signal('SIGTERM');
        break;
      case 'overload':
        log.add('note', { text: 'the load is ten times higher from now on' });
        if (this.#port !== undefined) this.#startLoad(this.#port, 9);
        break;
      default:
        deed satisfies never;
    }
  }

  // Returns the address to which clients connect. It is ::1 if the server listens only there.
  get #host(): string {
    return this.#listener?.address ?? podHost;
  }

  get #port(): number | undefined {
    return this.#options.port ?? this.#listener?.port;
  }

  // Starts the clients as soon as the pod is ready, even if its server does not listen.
  #startFirstLoad(): void {
    if (!this.#pod.isReady || this.#loads.length > 0 || this.#ended.signal.aborted) return;
    if (this.#port !== undefined) this.#startLoad(this.#port);
  }

  #startLoad(port: number, factor = 1): void {
    const { load, log } = this.#options;
    const plan = { ...load, rate: load.rate * factor, seed: load.seed + this.#loads.length, host: this.#host, port };
    let losses = 0;
    const started = new Load(plan, {
      onLoss: ({ outcome, client, why, afterMs }) => {
        if (losses++ < mostLossEvents) {
          log.add(outcome === 'lost' ? 'requestLost' : 'requestRefused', { client, why, afterMs });
        }
      },
      onReport: ({ inFlight, loopDelayMs }) => {
        const { sent, answered, lost, refused } = totalOf(Object.values(this.tallies));
        log.add('requests', { sent, answered, lost, refused, inFlight });
        if (loopDelayMs > longestLoopDelay) log.add('loadDelayed', { loopDelayMs });
      },
    });
    this.#loads.push(started);
    started.routes = this.#routes.current;
    log.add('loadStarted', { port, rate: plan.rate });
  }

  async #stopLoads(): Promise<void> {
    await withTimeout(systemClock, Promise.all(this.#loads.map((load) => load.stop())), longestStop);
    await Promise.all(this.#loads.map((load) => load.terminate()));
    if (this.#loads.length > 0) this.#options.log.add('loadEnded');
  }

  async #poll(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      this.#lookAtListeners();
      this.#routes.update();
      await wait(systemClock, pollPeriod, this.#ended.signal);
    }
  }

  #lookAtListeners(): void {
    const { log } = this.#options;
    const { main } = this.#kubelet;
    const found = this.#choose(listenersOf(main?.pids ?? []));
    if (found === undefined) {
      if (this.#isListening) log.add('listenerClosed', { port: this.#listener?.port });
      this.#isListening = false;
      return;
    }
    // A program may first listen on loopback for a moment, for example to check that the port is free. Its later
    // socket on another address replaces the loopback socket.
    const isReachableNow = this.#listener?.isLoopback === true && !found.isLoopback;
    if (this.#isListening && !isReachableNow) return;
    this.#isListening = true;
    this.#listener = found;
    const { port, isLoopback, pid } = found;
    log.add('containerListening', { port, isLoopback, isMain: pid === main?.pid });
    this.#startFirstLoad();
  }

  // Returns the earliest socket that clients can reach. A socket on loopback may have another purpose. It is chosen
  // only if the port is known, or if no other socket appears within some seconds.
  #choose(all: readonly Listener[]): Listener | undefined {
    const known = this.#listener?.isLoopback === false ? this.#listener.port : undefined;
    const port = this.#options.port ?? known;
    const [first] = all
      .filter((one) => port === undefined || one.port === port)
      .sort((a, b) => Number(a.isLoopback) - Number(b.isLoopback) || a.inode - b.inode);
    if (first?.isLoopback !== true || port !== undefined) return first;
    this.#loopbackSince ??= systemClock.now();
    return systemClock.now() - this.#loopbackSince >= longestLoopbackAlone ? first : undefined;
  }
}

// Milliseconds after which a socket on loopback counts as the server's socket, if there is no other socket.
const longestLoopbackAlone = 3_000;

/**
 * longestLoopDelay is the longest event loop delay of the client thread, in milliseconds. If a delay is longer, the
 * rehearsal gives no verdict.
 */
export const longestLoopDelay = 200;

// How long the clients may take to finish after the pod has ended, in milliseconds.
const longestStop = 5_000;
