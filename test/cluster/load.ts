// The load as the rollout sees it: client.ts in a pod of its own, known by what its log says.
import { fileURLToPath } from 'node:url';
import type { Kind, Line, Tally } from './client.ts';
import type { Namespace } from './kubernetes.ts';

type Failure = Extract<Line, { type: 'failure' }>;
type Second = Extract<Line, { type: 'second' }>;

/** Clients that ask until they are told to end. */
export class Load {
  readonly failures: Failure[] = [];
  /** What Node itself had to say about the program: nothing, if the load is to be believed. */
  readonly warnings: string[] = [];
  /** What the clients did in the last whole second. */
  second: Second = { type: 'second', requests: 0, pods: {} };
  #hasStarted = false;
  #summary: Record<Kind, Tally> | undefined;
  readonly #namespace: Namespace;

  static async start(namespace: Namespace): Promise<Load> {
    const load = new Load(namespace);
    namespace.on('line', load.#onLine);
    await namespace.kubectl('create', '--filename', fileURLToPath(new URL('client.yaml', import.meta.url)));
    await namespace.until('the Service answers the clients', 90, () => load.#hasStarted);
    return load;
  }

  private constructor(namespace: Namespace) {
    this.#namespace = namespace;
  }

  /** Ends the clients after the answers that they wait for, and resolves with the account of each kind. */
  async end(): Promise<Record<Kind, Tally>> {
    await this.#namespace.kubectl('delete', 'pod', 'client');
    await this.#namespace.until('the clients say what they have seen', 30, () => this.#summary !== undefined);
    this.#namespace.off('line', this.#onLine);
    return this.#summary as Record<Kind, Tally>;
  }

  readonly #onLine = (pod: string, text: string): void => {
    if (pod !== 'client') return;
    if (!text.startsWith('{')) return void this.warnings.push(text);
    const line = JSON.parse(text) as Line;
    if (line.type === 'started') this.#hasStarted = true;
    else if (line.type === 'second') this.second = line;
    else if (line.type === 'failure') this.failures.push(line);
    else this.#summary = line.kinds;
  };
}
