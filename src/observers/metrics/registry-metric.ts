// One metric in the form that a prom-client registry accepts. At each scrape, its values are read from counters of
// lameduck.

/** MetricRow contains the constant properties of a metric: type, help text, labels and aggregator. */
export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** aggregator says how prom-client combines the values from the workers of node:cluster. The default is the sum. */
  readonly aggregator?: 'sum' | 'first' | 'min' | 'max';
}

/** Sample is one value with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /**
   * sharedLabels is one JavaScript object with labels that several samples have in common. All of these samples refer
   * to this object.
   */
  readonly sharedLabels?: Readonly<Record<string, string>>;
  /**
   * metricName is the name of this sample. It is set only if this name differs from the name of the metric. The samples
   * of a histogram have three names, which end in `_bucket`, `_sum` and `_count`.
   */
  readonly metricName?: string;
}

/** RegistryMetric is the argument of a registry's `registerMetric`. */
export interface RegistryMetric {
  /**
   * The property `name` of a metric must be writable. To write a counter in the OpenMetrics format, a registry removes
   * `_total` from the counter's name, and then adds it again.
   */
  name: string;
  readonly help: string;
  readonly type: MetricRow['type'];
  readonly aggregator: string;
  get(): Promise<MetricWithSamples>;
  /**
   * getForPromString replaces `get` when newer versions of prom-client write text. prom-client then writes shared
   * labels only once, which makes a scrape of a large histogram several times faster.
   */
  getForPromString(): Promise<MetricWithSamples>;
  reset(): void;
}

type MetricWithSamples = Pick<RegistryMetric, 'name' | 'help' | 'type' | 'aggregator'> & {
  readonly values: readonly Sample[];
};

/** createRegistryMetric returns a metric for a registry. At each scrape, the metric calls `read` to get its samples. */
export function createRegistryMetric(
  name: string,
  { help, type, aggregator = 'sum' }: MetricRow,
  read: () => readonly Sample[] | Promise<readonly Sample[]>,
): RegistryMetric {
  return {
    name,
    help,
    type,
    aggregator,
    async get() {
      return { name: this.name, help, type, aggregator, values: (await read()).map(withAllLabels) };
    },
    async getForPromString() {
      return { name: this.name, help, type, aggregator, values: await read() };
    },
    // `reset` does nothing, because the values are counters of lameduck and Node, which a program must not reset.
    reset: () => undefined,
  };
}

function withAllLabels({ sharedLabels, ...sample }: Sample): Sample {
  return sharedLabels === undefined ? sample : { ...sample, labels: { ...sample.labels, ...sharedLabels } };
}
