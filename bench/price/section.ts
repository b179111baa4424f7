// Writes the section of docs/benchmarks.md about the CPU time of a request, and the table that divides this time among
// the parts of lameduck's code.
import { cells, label, ratio, signed } from '../format.ts';
import type { Results } from '../results.ts';
import { connections, directRequests, warmUpPairs, wholeRequests } from './measure.ts';
import { parts } from './parts.ts';
import { limit, type Price } from './price.ts';

// The bare server and the shutdown packages that run no code while a server handles a request. If the benchmark
// measures a difference between one of them and the bare server, this difference is a measurement error.
const offThePath = ['bare', 'http-terminator', 'lightship', 'close-with-grace'];

export function priceSection({ versions, prices, partPrices, effort }: Results): string[] {
  const own = prices['lameduck'] as Price;
  const idle = Object.entries(prices)
    .filter(([name]) => offThePath.includes(name))
    .map(([, { difference }]) => difference.value);
  const nothing = `${Math.min(...idle).toFixed(0)} and ${Math.max(...idle).toFixed(0)}`.replaceAll('-', '−');
  return [
    '',
    '## What does a request cost more?',
    '',
    `With \`lameduck(server)\` and its default settings, a request takes **${ratio(own.ratio)}** times the CPU time that it takes on`,
    `bare \`node:http\`. The brackets contain the 95 % interval. \`npm run bench\` fails if the upper end of this interval is above ${String(limit)}. The ratio is`,
    'computed from two measured times:',
    '',
    `- **Bare**: on bare \`node:http\`, a request takes ${micro(own.bare)} µs of CPU time. A window is one series of measured requests. A tenth of the`,
    `  windows took less than ${micro(own.bareSpread[0])} µs per request, and a tenth took more than ${micro(own.bareSpread[1])} µs.`,
    `- **Direct increment**: lameduck adds ${signed(own.increment)} ns to a request, measured without HTTP traffic. In a tenth of the pairs of`,
    `  windows, it added less than ${own.incrementSpread[0].toFixed(0)} ns, and in a tenth more than ${own.incrementSpread[1].toFixed(0)} ns.`,
    '',
    `Measured over loopback, with HTTP traffic, lameduck adds ${signed(own.difference)} ns to a request. The ratio is then ${ratio(own.wholeRatio)}.`,
    '',
    '| package added to the server | version | CPU time added per request, direct, in ns | ratio to bare: (bare + direct increment) / bare | CPU time added per request over loopback, in ns | ratio to bare over loopback |',
    '| --- | --- | --- | --- | --- | --- |',
    ...Object.entries(prices).map(([name, one]) =>
      cells(
        label(name, 'bare `node:http` again, as a control'),
        versions[name] ?? '',
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
    `- *Over loopback*: another process sends ${String(wholeRequests)} requests over ${String(connections)} kept-alive connections. Each connection sends its next request`,
    "  when the last response has arrived. The measured time is the CPU time of the server's process, user and system, not the time on",
    '  the clock.',
    `- *Direct*: the process of the server emits ${String(directRequests)} \`request\` events itself, without HTTP messages. Each event has the socket of`,
    `  one of the ${String(connections)} kept-alive connections and a new \`ServerResponse\`. The process then emits \`finish\` and \`close\` on the response, as`,
    '  Node does. The handler does nothing. So nearly all of the time difference between the two servers is the work of the package, and',
    '  a difference of ten nanoseconds is visible.',
    '',
    `All numbers are medians over pairs of windows. lameduck runs in ${String(effort.lameduck.processes)} processes with ${String(effort.lameduck.pairs)} pairs each, and every other package in ${String(effort.other.processes)} processes`,
    `with ${String(effort.other.pairs)} pairs each. The first ${String(warmUpPairs)} pairs of each process do not count. The intervals are bootstrapped: processes are drawn first, then`,
    'pairs inside each process.',
    '',
    `**Limits.** The limit of ${String(limit)} applies to the ratio with the direct increment. The direct increment is precise to a few hundredths of a microsecond, and changes`,
    'only when the code changes. Over loopback, the same code takes several times as long, for reasons that are only partly',
    'known. In the direct loop, the code stays in the caches of the processor. Between two real requests, the processor does many',
    'other things, and the kernel and the scheduler react to every delay.',
    '',
    'Bare `node:http` as a control, `http-terminator`, `lightship` and `close-with-grace` run no code at all for a request. Their',
    `differences over loopback lie between ${nothing} ns, which is the noise of the column for loopback. A difference clearly outside this range is`,
    'not noise. If a service does more work for a request, its bare time is longer, and both ratios are nearer to 1. The next',
    'section measures HTTP/2 and WebSockets.',
    '',
    '### Where does the difference come from?',
    '',
    'Each row of this table measures a bare server to which some parts of the code of lameduck were added.',
    '',
    '| added part of lameduck | CPU time added per request, direct, in ns | CPU time added per request over loopback, in ns | ratio to bare over loopback |',
    '| --- | --- | --- | --- |',
    ...Object.entries(partPrices).map(([name, one]) =>
      cells(parts[name]?.title ?? name, signed(one.increment), signed(one.difference), ratio(one.wholeRatio)),
    ),
  ];
}

function micro(nanoseconds: number): string {
  return (nanoseconds / 1_000).toFixed(1);
}
