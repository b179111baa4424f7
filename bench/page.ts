// The page of benchmarks: what was asked, how it was measured, and the tables.
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
  /** For each implementation and delay, one shutdown a round. */
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

// These have no code on the path of a request, so that whatever is measured for them is noise.
const offThePath = ['bare', 'http-terminator', 'lightship', 'close-with-grace'];

function price({ prices, effort }: Results): string[] {
  const own = prices.get('lameduck') as Price;
  const idle = [...prices].filter(([name]) => offThePath.includes(name)).map(([, { difference }]) => difference.value);
  const nothing = `${Math.min(...idle).toFixed(0)} and ${Math.max(...idle).toFixed(0)}`.replaceAll('-', '−');
  return [
    '',
    '## What does a request cost more?',
    '',
    `**${ratio(own.ratio)}** is (bare + increment) / bare for \`lameduck(server)\` with its default settings, with its 95 %`,
    `interval; \`npm run bench\` fails when the interval reaches above ${String(limit)}. Bare \`node:http\` takes ${micro(own.bare)} µs of CPU time for a`,
    `request (a tenth of the windows below ${micro(own.bareSpread[0])}, a tenth above ${micro(own.bareSpread[1])}); the direct increment is ${signed(own.increment)} ns`,
    `(a tenth of the pairs below ${own.incrementSpread[0].toFixed(0)}, a tenth above ${own.incrementSpread[1].toFixed(0)}). Over loopback the whole request takes ${signed(own.difference)} ns`,
    `more, a ratio of ${ratio(own.wholeRatio)}.`,
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
    '**Method.** One process has two servers with the same handler (one header, six bytes): a bare one, and one with the',
    'implementation on it as the first example of its README shows, and no shutdown begun. Both must answer a GET and a POST byte',
    'for byte alike, but for the date. Then come pairs of windows; who is first changes from pair to pair.',
    '',
    `- *Over loopback*: another process sends ${String(wholeRequests)} requests over ${String(connections)} kept connections, each its next when the last is answered. What`,
    '  counts is the CPU time of the process of the server, user and system, not the time on the clock.',
    `- *Direct*: the server's own process emits ${String(directRequests)} \`request\` events on the sockets of these connections, each with a new`,
    "  `ServerResponse`, then `finish` and `close` on the response, as Node does; the handler does nothing. The implementation's",
    '  part of a request is nearly all that differs, so that some ten nanoseconds can be seen.',
    '',
    `The figures are medians over pairs, from ${String(effort.lameduck.processes)} processes with ${String(effort.lameduck.pairs)} pairs each for lameduck and ${String(effort.other.processes)} with ${String(effort.other.pairs)} for the others, each after`,
    `${String(warmUpPairs)} pairs that do not count. The intervals are bootstrapped: processes are drawn first, then pairs inside them.`,
    '',
    '**Limits.** Two questions have two answers. The limit holds for the direct increment, which can be told to a few hundredths of',
    'a microsecond and is what a change to the code moves. Over loopback the same code costs several times as much, and only part of',
    'that is explained: the direct loop runs hot, while between two real requests the processor does a great many other things, and',
    'the kernel and the scheduler answer to every delay. How much of that column is noise can be seen: the control,',
    '`http-terminator`, `lightship` and `close-with-grace` run no code at all for a request, and their differences lie between',
    `${nothing} ns. What lies clearly outside is not noise. A service that does anything itself has a larger \`bare\`, and both`,
    'ratios are nearer to 1. TLS, HTTP/2 and WebSocket are not measured.',
  ];
}

function losses({ shutdowns, effort }: Results): string[] {
  const columns = effort.delays.map((delay) => `delay ${String(delay / 1_000)} s`);
  return [
    '',
    '## What does a shutdown lose?',
    '',
    `${String(clients)} clients, half GET and half POST, each on a kept connection, send the next request as soon as the last is answered and never`,
    'retry; an answer takes 10 ms. After a second the process gets SIGTERM. *Lost* is a request sent on an accepted connection, before',
    'that connection saw `Connection: close` or a FIN, that gets no whole answer. A request that went down with a connection that',
    'the server never accepted counts apart. The end of each client is a connection that is refused, which one process cannot avoid.',
    '',
    `Each figure is the median and, in brackets, the least and the most of ${String(effort.rounds)} shutdowns. A server that outlives ${String(gracePeriod / 1_000)} s is killed, as`,
    'the kubelet does after the grace period. The delay is how long everything is still served after the signal: by the',
    "implementation's own option where it has one, else by waiting before it is called. Like most clients, these send the next",
    'request as soon as the last answer is there, and do not look first whether a FIN has come behind it.',
    '',
    `| | ${columns.map((column) => `${column}: lost | never accepted | end after, s`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(columns.length * 3)}`,
    ...[...shutdowns].map(([name, byDelay]) =>
      cells(label(name, 'bare `server.close()`'), ...byDelay.flatMap(outcome)),
    ),
    '',
    '**Limits.** A closed loop keeps every connection busy all the time, which is the hardest case for whoever waits for idle',
    'connections, and the easiest for whoever resets them: a client that is silent for a while is not seen here, nor is a proxy in',
    'front, which would end the stream of new connections.',
  ];
}

function streamsOf({ streams: { count, whole, tookMs, stillMs } }: Results): string[] {
  return [
    '',
    '## Does the drain of very many event streams hold up the event loop?',
    '',
    `A server with ${String(count)} open event streams is shut down without a delay and with the default grace period of 10 s. ${String(whole)} of`,
    `them ended with their last chunk, in ${(tookMs / 1_000).toFixed(1)} s in all, the linger of their connections included. A turn of the event loop held up`,
    `whoever waited for it for ${stillMs.median.toFixed(1)} ms in the median, ${stillMs.p99.toFixed(1)} ms at the 99th percentile and ${stillMs.longest.toFixed(0)} ms at most, garbage collection included.`,
    'The connections are made in memory, where clients and server share one process and its heap.',
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
