// Writes the section "What does lameduck cost in use?" of docs/benchmarks.md.
import { largestFiles, medianParts, ofLameduck, samplingInterval, sumOf, type Parts } from '../cpu-profile.ts';
import { cells, ratio } from '../format.ts';
import { wholeRequests } from '../price/measure.ts';
import { estimate, median, type Estimate } from '../statistics.ts';
import { concurrent } from './clients/client.ts';
import { sessionCount } from './clients/http2.ts';
import { mostIdleSessions, perConnectionWindow, scrapeInterval, type Costs, type UseEffort } from './measure.ts';
import type { Variant } from './variants.ts';

/** The type Use holds the measured CPU time and memory of one server configuration. */
export interface Use {
  readonly variant: Pick<Variant, 'title' | 'framework' | 'by'>;
  readonly pairs: readonly (readonly [Costs, Costs])[];
}

/**
 * useSection returns, as Markdown lines, the section "What does lameduck cost in use?" of docs/benchmarks.md. The last
 * subsection tells which code uses the CPU time.
 */
export function useSection(uses: readonly Use[], { processes, windows, idle }: UseEffort): string[] {
  return [
    '',
    '## What does lameduck cost in use?',
    '',
    'Each cell of this table has the form “bare 12.8 µs × 1.05”. The first number is the cost on the bare server of the same framework. The second',
    'number is the ratio: the cost of the variant of the server with lameduck, divided by the cost on the bare server.',
    '',
    '| variant | CPU time per request: bare server × ratio | CPU time per connection: bare × ratio | allocation per request: bare × ratio | GC time per request: bare × ratio | heap per idle connection: bare × ratio | memory per idle connection: bare × ratio |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...uses.map(row),
    '',
    `**Method.** The bare server and the variant each have a process of their own, and ${String(processes)} pairs of processes are started. In each pair, the two`,
    `processes take turns with ${String(windows)} windows each. A window has ${String(wholeRequests)} requests, ${String(concurrent)} at a time, and then ${String(perConnectionWindow)} connections with`,
    "one request each. The CPU time is that of the server's process, with all its threads. The allocated bytes are the growth of the",
    `heap between garbage collections. The memory is the growth of the process by ${String(idle)} idle connections, after a garbage collection.`,
    '',
    `In this benchmark, an HTTP/1.1 server gets its requests on ${String(concurrent)} kept-alive connections, an HTTP/2 server on ${String(sessionCount)} sessions. A WebSocket server gets`,
    `messages on ${String(concurrent)} WebSockets and sends each message back. Each of its new connections has one upgrade, one message and one close.`,
    `The benchmark opens at most ${String(mostIdleSessions)} idle HTTP/2 sessions and idle WebSockets.`,
    '',
    'The variant *as in the chart* has a probe port and a route label. It has no probe paths on its own port, and its metrics are',
    `scraped every ${String(scrapeInterval / 1_000)} s. The variant *everything on* adds a request timeout, a limit of requests in flight, an audit log, a debug`,
    'socket and a checkpoint.',
    '',
    'The ratios of CPU times have their 95 % interval in brackets. The interval is bootstrapped: pairs of processes are drawn first, then windows inside each pair.',
    'The first two rows of the table compare a bare server with another bare server. They show how much two processes with the same code differ.',
    ...profileSection(uses),
  ];
}

// The columns of the table of CPU times, besides those for lameduck's own code and for all other code (`other`).
const partColumns = ['native code', "Node's JavaScript", 'garbage collection'];
const fileCount = 6;

function profileSection(uses: readonly Use[]): string[] {
  return [
    '',
    '### Where does the cost in use come from?',
    '',
    'After the measured windows, a profiler samples the main thread of each process. Each cell of this table has the CPU time of one',
    'request in microseconds, first on the bare server and then in the variant. The last column has the files of lameduck in which the',
    'variant spends most time.',
    '',
    `| variant | ${[...partColumns, 'lameduck', 'other code'].map((part) => `CPU µs per request in ${part}: bare → variant`).join(' | ')} | files of lameduck with the most CPU time, in µs per request |`,
    `| --- |${' --- |'.repeat(partColumns.length + 3)}`,
    ...uses.map(({ variant, pairs }) => {
      const [own, other] = [0, 1].map((side) => medianParts(pairs.map((pair) => (pair[side] as Costs).parts))) as [
        Parts,
        Parts,
      ];
      const cell = (isIncluded: (part: string) => boolean): string =>
        `${microseconds(sumOf(own, isIncluded))} → ${microseconds(sumOf(other, isIncluded))}`;
      return cells(
        variant.title,
        ...partColumns.map((column) => cell((part) => part === column)),
        cell(ofLameduck),
        cell((part) => !partColumns.includes(part) && !ofLameduck(part)),
        largestFiles(other, fileCount, microseconds),
      );
    }),
    '',
    '*Native code* is the code of Node, of V8 and of the kernel that JavaScript calls: system calls, the HTTP parser, timers and the',
    'compiler. It grows with each write to the audit log. Work of other threads, such as the probe thread and the threads that write',
    `files, is not in this table. The profiler takes a sample every ${String(samplingInterval)} µs and has a cost itself, so these times are longer than those of`,
    'the table above.',
  ];
}

function microseconds(nanoseconds: number): string {
  return (nanoseconds / 1_000).toFixed(2);
}

/**
 * requestRatio divides the CPU time of a request on the variant of the server by the CPU time of a request on the bare
 * server.
 */
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
  const values = [
    `bare ${micro(pairs, ({ requests }) => requests)} µs × ${ratio(requestRatio(use))}`,
    `bare ${micro(pairs, (costs) => costs.connections)} µs × ${ratio(ratioOf(pairs, (costs) => costs.connections))}`,
    ...(['bytes', 'collecting', 'heap', 'resident'] as const).map((name) => {
      const [own, other] = [0, 1].map((side) => median(pairs.map((pair) => (pair[side] as Costs)[name])));
      const unit = name === 'collecting' ? 'ns' : 'bytes';
      return `bare ${(own as number).toFixed(0)} ${unit} × ${((other as number) / (own as number)).toFixed(3)}`;
    }),
  ];
  return `| ${[variant.title, ...values].join(' | ')} |`;
}

function micro(pairs: Use['pairs'], windows: (costs: Costs) => readonly number[]): string {
  return (median(pairs.flatMap(([first]) => windows(first))) / 1_000).toFixed(1);
}
