// One metric in the shape in which a prom-client registry keeps its own. The numbers stay where they are counted.

/** MetricRow is what is said of a metric once. */
export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** How the values of several processes become one, where a program gathers them; their sum unless given. */
  readonly aggregator?: 'sum' | 'first' | 'min' | 'max';
}

/** Sample is one number and its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Labels that other samples have as well, as the same object. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
  /** Where it is not the metric's own name: a histogram has three. */
  readonly metricName?: string;
}

/** RegistryMetric is what `registerMetric` is called with. */
export interface RegistryMetric {
  /** Not readonly: a registry that writes OpenMetrics takes `_total` off a counter's name, and puts it on again. */
  name: string;
  readonly help: string;
  readonly type: MetricRow['type'];
  readonly aggregator: string;
  get(): Promise<MetricWithSamples>;
  /**
   * Newer versions of prom-client call this method instead of `get` to write text. They write shared labels only once, which
   * makes a scrape of a large histogram several times as fast.
   */
  getForPromString(): Promise<MetricWithSamples>;
  reset(): void;
}

type MetricWithSamples = Pick<RegistryMetric, 'name' | 'help' | 'type' | 'aggregator'> & {
  readonly values: readonly Sample[];
};

/** createMetric returns a metric that reads its samples at each scrape. */
export function createMetric(
  name: string,
  { help, type, aggregator = 'sum' }: MetricRow,
  read: () => readonly Sample[] | Promise<readonly Sample[]>,
): RegistryMetric {
  return {
    ...{ name, help, type, aggregator },
    async get() {
      return { name: this.name, help, type, aggregator, values: (await read()).map(withAllLabels) };
    },
    async getForPromString() {
      return { name: this.name, help, type, aggregator, values: await read() };
    },
    // The metrics show counters of other parts of lameduck and of Node, which cannot be reset.
    reset: () => undefined,
  };
}

function withAllLabels({ sharedLabels, ...sample }: Sample): Sample {
  return sharedLabels === undefined ? sample : { ...sample, labels: { ...sample.labels, ...sharedLabels } };
}
