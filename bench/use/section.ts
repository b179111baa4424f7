// Writes the section "What does lameduck cost in use?" of docs/benchmarks.md.
import { ratio } from '../format.ts';
import { connections, wholeRequests } from '../price/measure.ts';
import { estimate, median, type Estimate } from '../statistics.ts';
import { perConnectionWindow, scrapeInterval, type Costs, type UseEffort } from './measure.ts';
import type { Variant } from './variants.ts';

/** Use holds the measurements of one variant. */
export interface Use {
  readonly variant: Variant;
  readonly pairs: readonly (readonly [Costs, Costs])[];
}

/** useSection returns the lines of the section. */
export function useSection(uses: readonly Use[], { processes, windows, idle }: UseEffort): string[] {
  return [
    '',
    '## What does lameduck cost in use?',
    '',
    'Each cell has the figure of the bare server of the same framework, and the ratio of the variant to that server.',
    '',
    '| | CPU per request, µs | CPU per connection, µs | bytes allocated per request | GC per request, ns | heap per idle connection, bytes | memory per idle connection, bytes |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...uses.map(row),
    '',
    `**Method.** The bare server and the variant run in a process each, and ${String(processes)} pairs of processes are started. The windows of`,
    `a pair take turns, ${String(windows)} each. A window has ${String(wholeRequests)} requests on ${String(connections)} kept-alive connections, and then ${String(perConnectionWindow)} connections with one`,
    'request each. The CPU time is that of the process of the server, with all its threads. The variant *as in the chart* has a probe port and a route label. It has no',
    `probe paths on the own port, and its metrics are scraped every ${String(scrapeInterval / 1_000)} s. The variant *everything on* adds a request timeout, a`,
    'limit of requests in flight, an audit log, a debug socket and a checkpoint. The bytes are the growth of the heap between',
    `garbage collections. The memory is the growth of the process by ${String(idle)} idle connections, after a garbage collection.`,
    '',
    'A ratio has its 95 % interval where it has windows: pairs of processes are drawn first, then windows inside each pair.',
    'The first rows compare a bare server with another bare server. They show how much two processes with the same code differ.',
  ];
}

/** requestRatio returns the cost of a request with a variant, divided by its cost on the bare server. */
export function requestRatio({ pairs }: Use): Estimate {
  return ratioOf(pairs, ({ requests }) => requests);
}

function ratioOf(pairs: Use['pairs'], windows: (costs: Costs) => readonly number[]): Estimate {
  const groups = pairs.map(([first, second]) =>
    windows(first).map((own, index) => ({ own, other: windows(second)[index] as number })),
  );
  return estimate(groups, (samples) => {
    const own = median(samples.map((sample) => sample.own));
    return 1 + median(samples.map((sample) => sample.other - sample.own)) / own;
  });
}

function row(use: Use): string {
  const { variant, pairs } = use;
  const cells = [
    `${micro(pairs, ({ requests }) => requests)}: ${ratio(requestRatio(use))}`,
    `${micro(pairs, (costs) => costs.connections)}: ${ratio(ratioOf(pairs, (costs) => costs.connections))}`,
    ...(['bytes', 'collecting', 'heap', 'resident'] as const).map((name) => {
      const [own, other] = [0, 1].map((side) => median(pairs.map((pair) => (pair[side] as Costs)[name])));
      return `${(own as number).toFixed(0)}: ${((other as number) / (own as number)).toFixed(3)}`;
    }),
  ];
  return `| ${[variant.title, ...cells].join(' | ')} |`;
}

function micro(pairs: Use['pairs'], windows: (costs: Costs) => readonly number[]): string {
  return (median(pairs.flatMap(([first]) => windows(first))) / 1_000).toFixed(1);
}
