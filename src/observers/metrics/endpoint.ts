// Answers scrapes of the metrics on the program's servers and on the probe port. prom-client is loaded at the first
// scrape.
import { fromBundle } from '../../bundled.ts';
import { withTimeout, type Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { Answer } from '../../message.ts';
import type * as PromClient from 'prom-client';
import type { RegistryMetric } from './registry-metric.ts';
import type { MetricsRegistry } from './registry.ts';

export interface MetricsEndpointOptions {
  /** path is the path of the endpoint on the program's servers. It is empty if the servers do not serve metrics. */
  readonly path: string;
  /**
   * registry is the metrics registry that the program has passed to lameduck. It is undefined if the program has passed
   * no registry, or a registry without the method `metrics()`.
   */
  readonly registry: Renderer | undefined;
  readonly metrics: readonly RegistryMetric[];
  /** slis are the metrics at the subpath `/slis` of the endpoint, such as `/metrics/slis`. */
  readonly slis: readonly RegistryMetric[];
  readonly warn: (message: string) => void;
  readonly clock: Clock;
}

/** Renderer is a registry that can return its metrics as text. */
export type Renderer = Required<Pick<MetricsRegistry, 'metrics'>> & Pick<MetricsRegistry, 'contentType'>;

// The longest time to wait for the metrics of a registry, in milliseconds. A collector in the program's own metrics
// registry may never finish, and a scrape in flight delays the drain. By default, Prometheus gives up on a scrape after
// ten seconds.
const longestScrape = 5_000;

const defaultContentType = 'text/plain; version=0.0.4; charset=utf-8';
const slisContentType = `${defaultContentType}; escaping=underscores`;

/** MetricsEndpoint creates the response to a scrape. */
export class MetricsEndpoint {
  readonly #options: MetricsEndpointOptions;
  readonly #failing = new Set<string>();
  #own: PromClient.Registry | undefined;
  #slis: PromClient.Registry | undefined;

  constructor(options: MetricsEndpointOptions) {
    this.#options = options;
  }

  /** answer returns the response to a scrape. It returns undefined if the URL is not a URL of the metrics. */
  answer(url: string, method: string, path = this.#options.path): Answer | Promise<Answer> | undefined {
    if (path === '') return undefined;
    if (!url.startsWith(path)) return undefined;
    const [below] = url.slice(path.length).split('?', 1);
    if (below !== '' && below !== '/slis') return undefined;
    if (method !== 'GET' && method !== 'HEAD') return notAllowed;
    return this.#answer(below);
  }

  async #answer(below: '' | '/slis'): Promise<Answer> {
    try {
      const renderer = below === '' ? await this.#metrics() : await this.#healthMetrics();
      const body = await this.#rendered(renderer);
      this.#failing.delete(below);
      return { status: 200, headers: { ...noStore, 'Content-Type': contentTypeOf(renderer) }, body };
    } catch (error) {
      // If several scrapes of a path fail in a row, log a warning only about the first of them.
      if (!this.#failing.has(below)) this.#options.warn(`unable to serve metrics: ${messageOf(error)}`);
      this.#failing.add(below);
      return failed;
    }
  }

  async #metrics(): Promise<Renderer> {
    const { registry, metrics } = this.#options;
    if (registry !== undefined) return registry;
    const { Registry, collectDefaultMetrics } = await promClient();
    if (this.#own === undefined) {
      const own = filled(new Registry(), metrics);
      collectDefaultMetrics({ register: own });
      this.#own = own;
    }
    return this.#own;
  }

  async #healthMetrics(): Promise<Renderer> {
    const { Registry } = await promClient();
    const own = (this.#slis ??= filled(new Registry(), this.#options.slis));
    return { metrics: () => own.metrics(), contentType: slisContentType };
  }

  async #rendered(renderer: Renderer): Promise<string> {
    const text: unknown = await withTimeout(this.#options.clock, renderer.metrics(), longestScrape);
    if (typeof text !== 'string') throw new Error(`the registry returned no text within ${String(longestScrape)} ms`);
    return text;
  }
}

async function promClient(): Promise<typeof PromClient> {
  try {
    return await fromBundle(() => import('prom-client'));
  } catch (cause) {
    throw new Error(`unable to load prom-client: ${messageOf(cause)}`, { cause });
  }
}

function filled(registry: PromClient.Registry, metrics: readonly RegistryMetric[]): PromClient.Registry {
  for (const metric of metrics) registry.registerMetric(metric as never);
  return registry;
}

function contentTypeOf({ contentType }: Renderer): string {
  const isHeader = typeof contentType === 'string' && /^[ -~]+$/.test(contentType);
  return isHeader ? contentType : defaultContentType;
}

const noStore = { 'Cache-Control': 'no-store' };
const plain = { ...noStore, 'Content-Type': 'text/plain; charset=utf-8' };

const notAllowed: Answer = {
  status: 405,
  headers: { ...plain, Allow: 'GET, HEAD' },
  body: 'expected GET or HEAD\n',
};

const failed: Answer = { status: 500, headers: plain, body: 'unable to serve metrics: see the log\n' };
