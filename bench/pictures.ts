// Draws the pictures of docs/benchmarks.md.
import { barChart, type Bar } from './chart.ts';
import type { Results } from './results.ts';
import { median } from './statistics.ts';
import { requestRatio } from './use/section.ts';

/** `pictures()` maps the name of each file in docs/benchmarks/ to its SVG text. */
export function pictures({
  prices,
  uses,
  shutdowns,
  rollouts,
  streams,
  probes,
  effort,
}: Results): ReadonlyMap<string, string> {
  const delayed = effort.delays.length - 1;
  return new Map([
    [
      'price.svg',
      barChart({
        title: 'CPU time that each package adds to a request, ns (direct)',
        bars: Object.entries(prices).map(([name, { increment }]) => ({
          ...named(name),
          ...increment,
          text: increment.value.toFixed(0),
        })),
      }),
    ],
    [
      'use.svg',
      barChart({
        title: 'CPU time per request over loopback, divided by that of the bare server',
        from: 1,
        bars: uses.map((use) => {
          const estimate = requestRatio(use);
          const { title, by } = use.variant;
          return { label: title, isOwn: by !== 'none', ...estimate, text: estimate.value.toFixed(3) };
        }),
      }),
    ],
    [
      'losses.svg',
      barChart({
        title: `Requests lost in a shutdown of 30 clients, delay ${String((effort.delays[delayed] ?? 0) / 1_000)} s`,
        bars: Object.entries(shutdowns).map(([name, byDelay]) => ({
          ...named(name),
          value: median((byDelay[delayed] ?? []).map(({ lost }) => lost)),
        })),
      }),
    ],
    [
      'rollouts.svg',
      barChart({
        title: 'Requests that fail in one rollout',
        bars: rollouts.map(({ name, asDocumented }) => ({
          ...named(name),
          value: median(asDocumented.map(({ lost, refused }) => lost + refused)),
        })),
      }),
    ],
    [
      'streams.svg',
      barChart({
        title: 'From SIGTERM to the exit, s (the least possible is 10 s)',
        bars: streams.map(({ kind, count, exitMs }) => ({
          label: `${String(count)} ${kind}`,
          value: exitMs / 1_000,
          isOwn: true,
          text: (exitMs / 1_000).toFixed(1),
        })),
      }),
    ],
    [
      'probes.svg',
      barChart({
        title: 'Time until a probe is answered, 99th percentile, ms',
        bars: [
          bar('main port, idle', probes.idleMainPort.p99),
          bar('probe port, idle', probes.idleProbePort.p99),
          bar('probe port, main thread saturated', probes.saturated.p99),
          bar('probe port, main thread blocked', probes.blocked.p99),
        ],
      }),
    ],
  ]);
}

function named(name: string): Pick<Bar, 'label' | 'isOwn'> {
  return { label: name, isOwn: name === 'lameduck' };
}

function bar(label: string, value: number): Bar {
  return { label, value, isOwn: label.startsWith('probe port'), text: value.toFixed(1) };
}
