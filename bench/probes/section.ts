// Writes the section of docs/benchmarks.md about probes of a busy process.
import { cells } from '../format.ts';
import { blockTime, clients, limits, missed, pauseBetween, type Probes, type Waits } from './probes.ts';
import type { Thread } from './thread.ts';

export function probesSection(probes: Probes, thread: Thread): string[] {
  const { idleMainPort, idleProbePort, saturated, blocked, execProbe, loadAverage } = probes;
  const late = missed(probes);
  return [
    '',
    '## Is a probe answered while the main thread is not free?',
    '',
    `The probes request \`/readyz\` as the kubelet does, each on its own connection and ${String(pauseBetween)} ms after the previous probe. The time is`,
    `measured from the connect to the last byte of the answer. While the main thread is *saturated*, ${String(clients)} clients send requests without a`,
    `pause, and each request takes two milliseconds of the main thread. While the main thread is *blocked*, a callback runs for ${String(blockTime / 1_000)} s, and the probes`,
    'begin together with this callback.',
    '',
    '| probed port and state of the main thread | number of probes | median duration of a probe, ms | p99, ms | longest, ms |',
    '| --- | --- | --- | --- | --- |',
    row('main port, main thread idle', idleMainPort),
    row('probe port, main thread idle', idleProbePort),
    row('probe port, main thread saturated', saturated),
    row('probe port, main thread blocked', blocked),
    '',
    `If the main thread is saturated or blocked, the p99 of a probe's duration must be at most ${String(limits.p99)} ms. It must also be at most`,
    `${String(limits.factor)} times the p99 of the idle main port. The command \`lameduck probe\` has a limit of ${String(limits.execProbe)} ms. ${late.length === 0 ? 'All limits are met.' : `Limits that are not met: ${late.join('; ')}.`} The load average of the machine was ${loadAverage.map((load) => load.toFixed(1)).join(' before and ')} after.`,
    '',
    `In the median, \`lameduck probe livez\` takes ${execProbe.own.median.toFixed(0)} ms longer than a Node process that does nothing, which takes ${execProbe.node.toFixed(0)} ms. In a tenth of`,
    `the ${String(execProbe.pairs)} measured pairs, the command took more than ${execProbe.own.p90.toFixed(0)} ms longer.`,
    '',
    '**Limits.** The probe thread needs CPU time. If a cgroup throttles the whole process, or other processes use the whole machine,',
    'probes wait too. If a client probes less than once per second, the probe thread waits up to 200 ms for a busy main thread. The',
    'benchmark therefore does not count the first probe after each pause.',
    ...threadLines(thread),
  ];
}

function row(what: string, { count, median, p99, longest }: Waits): string {
  return cells(what, count, median.toFixed(1), p99.toFixed(1), longest.toFixed(1));
}

function threadLines({ pairs, seconds, resident, emptyThread, cpu }: Thread): string[] {
  return [
    '',
    '### What does the probe thread cost?',
    '',
    `A process with a probe port needs ${mebibytes(resident)} MiB more memory than a process without a probe port. A Node thread that does nothing needs`,
    `${mebibytes(emptyThread)} MiB. lameduck itself needs the remaining ${mebibytes(resident - emptyThread)} MiB.`,
    '',
    '| probes per second | additional CPU time because of the probe port, ms per second |',
    '| --- | --- |',
    ...cpu.map(({ perSecond, milliseconds }) => cells(perSecond, milliseconds.toFixed(2))),
    '',
    `**Method.** The costs of the probe thread are medians over ${String(pairs)} pairs of idle processes: one process has a probe port, the other has none. Each pair`,
    `is measured for ${String(seconds)} s at each rate, and the first measurement begins 22 s after the start. Memory is resident memory after a`,
    'garbage collection. Each probe opens a connection, as the kubelet does.',
  ];
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
