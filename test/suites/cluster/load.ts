// Starts test clients on Node, Go and Python, each in its own pod, and reads their reports from the logs of these pods.
import { referenceImage } from './images.ts';
import type { Job, Line, PodSecond, Tally } from './programs/exchange.ts';
import type { Namespace, Run } from './kubernetes.ts';
import { programPod } from './program-pods.ts';

type Failure = Extract<Line, { type: 'failure' }>;

/** The request counts of all test clients. Each key is the name of a row in the results table. */
export type Tallies = Readonly<Record<string, Tally>>;

const clientsImage = 'localhost/lameduck-clients:dev';

const stacks = {
  node: { image: referenceImage, command: ['/nodejs/bin/node', '/app/programs/client.ts'] },
  go: { image: clientsImage, command: ['/client'] },
  python: { image: clientsImage, command: ['/python3', '/client.py'] },
} as const;

/** The programming language of the test clients: Node.js, Go or Python. */
export type Stack = keyof typeof stacks;

/** The report that a pod with test clients logs each second: its time, and the counts for each server pod. */
interface Second {
  readonly at: number;
  readonly pods: Readonly<Record<string, PodSecond>>;
}

/** Test clients that send requests until the test stops the clients. */
export class Load {
  /**
   * The failed requests that the clients have reported and that no test has checked yet. A test removes the failed
   * requests that it has checked.
   */
  readonly failures: Failure[] = [];
  /**
   * Lines that the client programs logged in addition to their JSON reports, such as errors. If there are any, the
   * reported counts may be wrong.
   */
  readonly warnings: string[] = [];
  readonly seconds: Second[] = [];
  readonly jobs: readonly Job[];
  readonly #latest = new Map<string, Second & { readonly tallies: Tallies }>();
  readonly #started = new Set<string>();
  readonly #summaries = new Map<string, Tallies>();
  readonly #namespace: Namespace;
  readonly #pods: readonly string[];

  /**
   * Starts one pod of clients for each programming language in `jobs`. Resolves when the Service of each job has
   * responded to a client.
   */
  static async start(namespace: Namespace, jobs: Readonly<Partial<Record<Stack, readonly Job[]>>>): Promise<Load> {
    const all = Object.entries(jobs) as [Stack, readonly Job[]][];
    const load = new Load(namespace, all);
    namespace.on('line', load.#onLine);
    await Promise.all(all.map(([stack, its]) => namespace.add(clientPod(stack, its))));
    await namespace.until('the services answer the clients', 90, () => load.#started.size === load.#pods.length);
    return load;
  }

  private constructor(namespace: Namespace, all: readonly [Stack, readonly Job[]][]) {
    this.#namespace = namespace;
    this.#pods = all.map(([stack]) => podOf(stack));
    this.jobs = all.flatMap(([, its]) => its);
  }

  /** The counts of requests and connections since the start of the clients, at most one second old. */
  get tallies(): Tallies {
    return Object.assign({}, ...[...this.#latest.values()].map(({ tallies }) => tallies)) as Tallies;
  }

  /** Returns how many connections all clients together keep open to the pod. */
  keptTo(pod: string): number {
    return [...this.#latest.values()].reduce((sum, { pods }) => sum + (pods[pod]?.kept ?? 0), 0);
  }

  /**
   * True if at least one client got a response from the pod in the second of its newest report. Each client reports its
   * counts once per second.
   */
  reaches(pod: string): boolean {
    return [...this.#latest.values()].some(({ pods }) => (pods[pod]?.answered ?? 0) > 0);
  }

  /** Lets the clients wait for their pending responses, then stops the clients. Resolves with their final counts. */
  async end(): Promise<Tallies> {
    await this.#namespace.kubectl('delete', 'pod', ...this.#pods);
    const isOver = () => this.#summaries.size === this.#pods.length;
    await this.#namespace.until('the clients have printed their summaries', 60, isOver);
    this.#namespace.off('line', this.#onLine);
    return Object.assign({}, ...this.#summaries.values()) as Tallies;
  }

  readonly #onLine = ({ pod }: Run, text: string): void => {
    if (!this.#pods.includes(pod)) return;
    if (!text.startsWith('{')) return void this.warnings.push(`${pod}: ${text}`);
    const line = JSON.parse(text) as Line;
    if (line.type === 'started') this.#started.add(pod);
    else if (line.type === 'failure') this.failures.push(line);
    else if (line.type === 'summary') this.#summaries.set(pod, line.tallies);
    else {
      this.seconds.push({ at: line.at, pods: line.pods });
      this.#latest.set(pod, line);
    }
  };
}

function podOf(stack: Stack): string {
  return `client-${stack}`;
}

function clientPod(stack: Stack, jobs: readonly Job[]): object {
  const { image, command } = stacks[stack];
  // The client requests twice as much CPU as the chart requests for a server. With a smaller CPU request, a busy node
  // would starve the clients. With a larger CPU request, the clients would starve the servers.
  const client = { image, command: [...command, JSON.stringify(jobs)], cpu: '200m' };
  return programPod(podOf(stack), client, { terminationGracePeriodSeconds: 60 });
}
