// Writes the page of benchmarks: its questions, its methods and its tables.
import { availableParallelism, cpus } from 'node:os';
import { ratio, signed } from './format.ts';
import { versionOf } from './implementations.ts';
import type { Leases } from './leases/leases.ts';
import { leasesSection } from './leases/section.ts';
import { clients, gracePeriod, type Shutdown } from './losses/shutdown.ts';
import { connections, directRequests, warmUpPairs, wholeRequests, type Effort } from './price/measure.ts';
import { limit, type Price } from './price/price.ts';
import type { Probes } from './probes/probes.ts';
import { probesSection } from './probes/section.ts';
import { median } from './statistics.ts';
import type { Streams } from './streams/streams.ts';
import type { UseEffort } from './use/measure.ts';
import { useSection, type Use } from './use/section.ts';

export interface Results {
  readonly prices: ReadonlyMap<string, Price>;
  readonly uses: readonly Use[];
  /** For each implementation and delay, the shutdowns of each round. */
  readonly shutdowns: ReadonlyMap<string, readonly (readonly Shutdown[])[]>;
  readonly streams: Streams;
  readonly probes: Probes;
  readonly leases: Leases;
  readonly effort: {
    readonly lameduck: Effort;
    readonly other: Effort;
    readonly use: UseEffort;
    readonly rounds: number;
    readonly delays: readonly number[];
  };
}

/** page returns docs/benchmarks.md. */
export function page(results: Results): string {
  return [
    ...opening,
    ...price(results),
    ...useSection(results.uses, results.effort.use),
    ...losses(results),
    ...streamsOf(results),
    ...probesSection(results.probes),
    ...leasesSection(results.leases),
    '',
  ].join('\n');
}

const opening = [
  '# Benchmarks',
  '',
  'Written by `npm run bench`: do not edit it. `npm run bench -- --quick` measures lameduck alone in less than a minute.',
  '',
  `Measured with Node ${process.version} on ${process.platform} ${process.arch}, ${String(availableParallelism())} cores (${cpus()[0]?.model ?? 'unknown'}). Compare the rows of one page, not the pages of`,
  'two machines.',
];

// These implementations run no code during a request, so any difference that is measured for them is noise.
const offThePath = ['bare', 'http-terminator', 'lightship', 'close-with-grace'];

function price({ prices, effort }: Results): string[] {
  const own = prices.get('lameduck') as Price;
  const idle = [...prices].filter(([name]) => offThePath.includes(name)).map(([, { difference }]) => difference.value);
  const nothing = `${Math.min(...idle).toFixed(0)} and ${Math.max(...idle).toFixed(0)}`.replaceAll('-', '−');
  return [
    '',
    '## What does a request cost more?',
    '',
    `**${ratio(own.ratio)}** is (bare + increment) / bare for \`lameduck(server)\` with its default settings, with its 95 % interval.`,
    `\`npm run bench\` fails if the upper end of the interval is above ${String(limit)}. Bare \`node:http\` takes ${micro(own.bare)} µs of CPU time per`,
    `request: a tenth of the windows took less than ${micro(own.bareSpread[0])}, and a tenth more than ${micro(own.bareSpread[1])}. The direct increment is`,
    `${signed(own.increment)} ns: a tenth of the pairs were below ${own.incrementSpread[0].toFixed(0)}, and a tenth above ${own.incrementSpread[1].toFixed(0)}. Over loopback the whole request takes`,
    `${signed(own.difference)} ns more, a ratio of ${ratio(own.wholeRatio)}.`,
    '',
    '| | version | direct increment, ns | (bare + increment) / bare | difference over loopback, ns | ratio over loopback |',
    '| --- | --- | --- | --- | --- | --- |',
    ...[...prices].map(([name, one]) =>
      cells(
        label(name, 'bare again, as a control'),
        versionText(name),
        signed(one.increment),
        ratio(one.ratio),
        signed(one.difference),
        ratio(one.wholeRatio),
      ),
    ),
    '',
    '**Method.** One process has two servers with the same handler (one header, six bytes). One server is bare. The other server uses',
    "the measured package, as in the first example of the package's README. No shutdown begins. Both servers must answer a GET and a",
    'POST with the same bytes, except for the date. Each server is then measured in many windows. A pair has one window of each',
    'server, and the order of the servers changes with each pair.',
    '',
    `- *Over loopback*: another process sends ${String(wholeRequests)} requests over ${String(connections)} kept-alive connections. Each connection sends its next request when`,
    "  the last is answered. The figure is the CPU time of the server's process, user and system, and not the time on the clock.",
    `- *Direct*: the server's own process emits ${String(directRequests)} \`request\` events on the sockets of these connections, each with a new`,
    '  `ServerResponse`. It then emits `finish` and `close` on the response, as Node does. The handler does nothing. Nearly all of the',
    "  difference is the implementation's part of a request, so that some ten nanoseconds can be seen.",
    '',
    `The figures are medians over pairs. lameduck runs in ${String(effort.lameduck.processes)} processes with ${String(effort.lameduck.pairs)} pairs each, and the others in ${String(effort.other.processes)} with ${String(effort.other.pairs)} each. The`,
    `first ${String(warmUpPairs)} pairs of each process do not count. The intervals are bootstrapped: processes are drawn first, then pairs inside them.`,
    '',
    '**Limits.** The two columns of differences answer two questions. The limit applies to the direct increment. It is precise to a',
    'few hundredths of a microsecond, and it changes when the code changes. Over loopback, the same code costs several times as much,',
    'and only a part of this difference is explained. In the direct loop, the code stays in the caches of the processor. Between two',
    'real requests, the processor does many other things,',
    'and the kernel and the scheduler react to every delay. The control, `http-terminator`, `lightship` and `close-with-grace` run no',
    `code at all for a request. Their differences over loopback lie between ${nothing} ns: that is the noise of this column. A`,
    'difference clearly outside that range is not noise. A service that does any work itself has a larger `bare`, and both ratios are',
    'nearer to 1. TLS, HTTP/2 and WebSocket are not measured.',
  ];
}

function losses({ shutdowns, effort }: Results): string[] {
  const columns = effort.delays.map((delay) => `delay ${String(delay / 1_000)} s`);
  return [
    '',
    '## What does a shutdown lose?',
    '',
    `${String(clients)} clients, half with GET and half with POST, each keep a connection. A client sends its next request as soon as the last is`,
    'answered, and never retries. An answer takes 10 ms. After a second the process receives SIGTERM. *Lost* requests get no complete',
    'answer although they were sent on an accepted connection before the client saw `Connection: close` or a FIN. The column *never',
    'accepted* counts the requests that were lost on a connection that the server never accepted. Each client ends when the server',
    'refuses its new connection, which a single process cannot avoid.',
    '',
    `Each figure is the median of ${String(effort.rounds)} shutdowns, with the least and the most in brackets. A server that outlives ${String(gracePeriod / 1_000)} s is killed, as`,
    'the kubelet does after the grace period. The delay is how long the server still serves everything after the signal. If a package',
    'has an option for the delay, the benchmark sets this option. Otherwise, the benchmark waits for the delay before it calls the',
    'package. Like most clients, these clients send the next request as soon as the last answer has arrived. They do not check first',
    'whether the server has also sent a FIN.',
    '',
    `| | ${columns.map((column) => `${column}: lost | never accepted | end after, s`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(columns.length * 3)}`,
    ...[...shutdowns].map(([name, byDelay]) =>
      cells(label(name, 'bare `server.close()`'), ...byDelay.flatMap(outcome)),
    ),
    '',
    '**Limits.** A closed loop keeps every connection busy all the time. This is the hardest case for an implementation that waits for',
    'idle connections, and the easiest for an implementation that resets them. Clients that are silent for a while are not measured.',
    'A load balancer or proxy in front of the server, which would send it no new connections, is not measured either.',
  ];
}

function streamsOf({ streams: { count, whole, tookMs, stillMs } }: Results): string[] {
  return [
    '',
    '## Does the drain of very many event streams hold up the event loop?',
    '',
    `A server with ${String(count)} open event streams is shut down without a delay and with the default grace period of 10 s. ${String(whole)} of`,
    `them ended with their last chunk. The drain took ${(tookMs / 1_000).toFixed(1)} s, including the second of silence before a connection is closed. A turn of the event loop delayed`,
    `other work by ${stillMs.median.toFixed(1)} ms in the median and by at most ${stillMs.longest.toFixed(0)} ms. The 99th percentile was ${stillMs.p99.toFixed(1)} ms. These times include garbage`,
    'collection. The connections are in memory, so that clients and server share one process and its heap.',
  ];
}

function outcome(shutdowns: readonly Shutdown[]): string[] {
  const killed = shutdowns.filter(({ wasKilled }) => wasKilled).length;
  return [
    range(shutdowns.map(({ lost }) => lost)),
    range(shutdowns.map(({ neverAccepted }) => neverAccepted)),
    killed > 0
      ? `killed ${String(killed)} of ${String(shutdowns.length)}`
      : range(
          shutdowns.map(({ milliseconds }) => milliseconds / 1_000),
          1,
        ),
  ];
}

function range(values: readonly number[], digits = 0): string {
  const [least, middle, most] = [Math.min(...values), median(values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  );
  return least === most ? (middle as string) : `${String(middle)} (${String(least)} to ${String(most)})`;
}

function label(name: string, bare: string): string {
  if (name === 'bare') return bare;
  return name === 'lameduck' ? '**lameduck**' : `\`${name}\``;
}

function versionText(name: string): string {
  return versionOf(name) ?? '';
}

function cells(...texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`;
}

function micro(nanoseconds: number): string {
  return (nanoseconds / 1_000).toFixed(1);
}
