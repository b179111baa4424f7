// One scenario from start to end: the pod, its Service, its clients, and what is done to the pod when.
import { systemClock, wait, withTimeout } from '../../clock.ts';
import { Load } from './clients/load.ts';
import { clientKinds, newTallies, type ClientKind, type LoadPlan, type Tally } from './clients/messages.ts';
import type { Isolation } from './container.ts';
import type { EventLog } from './event-log.ts';
import { Kubelet, type PodState } from './kubelet.ts';
import type { PodSpec } from './pod.ts';
import { listenersOf, type Listener } from './processes.ts';
import { ServiceRoutes } from './routes.ts';
import type { Deed, Scenario } from './scenarios.ts';
import { sendSignal } from '../../process/send-signal.ts';

/** RunOptions is what a scenario is run with. */
export interface RunOptions {
  readonly scenario: Scenario;
  readonly pod: PodSpec;
  /** The port of the load; undefined means the first on which the container listens. */
  readonly port: number | undefined;
  readonly load: Omit<LoadPlan, 'host' | 'port'>;
  /** In milliseconds. */
  readonly propagation: number;
  readonly random: () => number;
  readonly isolation: Isolation;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: EventLog;
  /** Aborted by Ctrl-C: the scenario ends at once. */
  readonly interrupted: AbortSignal;
}

// The address of the pod: everything runs on this machine.
const podHost = '127.0.0.1';

// How long a pod may take to become ready, in milliseconds.
const longestStart = 60_000;

const pollPeriod = 50;

// The most losses that are recorded as events, to bound memory. All losses are counted.
const mostLossEvents = 200;

/** totalOf returns the sum of tallies. */
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
    this.#routes = new ServiceRoutes({ propagation, hasOthers, random, log }, (routes) => {
      for (const load of this.#loads) load.routes = routes;
    });
    this.#kubelet = new Kubelet({
      pod: this.#withDefaultProbe(options.pod),
      ...{ log, host: () => this.#host, isolation, environment, backoffScale: scenario.backoffScale ?? 1 },
      onPodChange: (pod) => {
        this.#pod = pod;
        this.#routes.change(pod);
        this.#startFirstLoad();
      },
    });
  }

  /** The counts of each kind of client. */
  get tallies(): Record<ClientKind, Tally> {
    const sums = newTallies();
    for (const kind of clientKinds) sums[kind] = totalOf(this.#loads.map(({ tallies }) => tallies[kind]));
    return sums;
  }

  /** run resolves when no process and no client of the scenario is left. */
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
      if (scenario.isWhileStarting !== true) await this.#untilReady();
      const from = scenario.isWhileStarting === true ? startedAt : systemClock.now();
      const isUsable = this.#pod.isReady || scenario.isWhileStarting === true;
      if (isUsable) await this.#play(scenario, from);
      else if (!interrupted.aborted) log.add('note', { text: 'the pod did not become ready', limitMs: longestStart });
      // Ctrl-C does not wait for the grace period.
      await Promise.race([this.#ending, stopped]);
      if (isUsable) await this.#untilLearnt();
    } finally {
      this.#ended.abort();
      await polling;
      await this.#stopLoads();
      await this.#kubelet.destroy();
      interrupted.removeEventListener('abort', onInterrupted);
    }
  }

  // Without a manifest the pod has one probe: a connection to the port that was found.
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

  async #untilReady(): Promise<void> {
    const { interrupted } = this.#options;
    const until = systemClock.now() + longestStart;
    const canBecomeReady = (): boolean => systemClock.now() < until && !interrupted.aborted && !this.#isUnstartable();
    while (!this.#pod.isReady && canBecomeReady()) await wait(systemClock, pollPeriod, interrupted);
  }

  // A shell's exit code for a command that cannot be started. To start it again would not help.
  #isUnstartable(): boolean {
    return this.#kubelet.main?.exit?.code === 127;
  }

  async #play({ steps, endsAfter }: Scenario, from: number): Promise<void> {
    const { interrupted } = this.#options;
    for (const step of steps) {
      await wait(systemClock, from + step.at - systemClock.now(), interrupted);
      if (interrupted.aborted) return;
      this.#do(step.do);
    }
    if (endsAfter !== undefined) await wait(systemClock, endsAfter, interrupted);
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
      case 'crash':
        log.add('note', { text: 'the main process is killed, as in a crash' });
        main?.signal('SIGKILL');
        break;
      case 'signalAgain':
        log.add('note', { text: 'a second stop signal is sent' });
        main?.signal('SIGTERM');
        break;
      case 'overload':
        log.add('note', { text: 'the load is ten times as high from now on' });
        if (this.#port !== undefined) this.#startLoad(this.#port, 9);
        break;
      default:
        deed satisfies never;
    }
  }

  // A node that has not learnt of the end still sends clients to a pod that is gone.
  async #untilLearnt(): Promise<void> {
    await wait(systemClock, this.#routes.untilLearnt(), this.#options.interrupted);
  }

  // A server may listen on ::1 alone.
  get #host(): string {
    return this.#listener?.address ?? podHost;
  }

  get #port(): number | undefined {
    return this.#options.port ?? this.#listener?.port;
  }

  // Clients send requests to a ready pod, whether its server listens or not.
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
    // A server may first listen on loopback, for example to find out whether the port is free.
    const isReachableNow = this.#listener?.isLoopback === true && !found.isLoopback;
    if (this.#isListening && !isReachableNow) return;
    this.#isListening = true;
    this.#listener = found;
    const { port, isLoopback, pid } = found;
    log.add('containerListening', { port, isLoopback, isMain: pid === main?.pid });
    this.#startFirstLoad();
  }

  // The earliest socket that clients can reach. One on loopback alone may belong to something else: it has to be the only
  // one for a while, unless its port is known.
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

// In milliseconds.
const longestLoopbackAlone = 3_000;

/** longestLoopDelay is the delay of the clients' event loop from which a rehearsal could not keep time, in milliseconds. */
export const longestLoopDelay = 200;

// The clients' last requests end with the pod; this bounds the rest, in milliseconds.
const longestStop = 5_000;
