// Writes the section of docs/benchmarks.md about probes of a busy process.
import { blockTime, clients, limits, missed, pauseBetween, type Probes, type Waits } from './probes.ts';

export function probesSection(probes: Probes): string[] {
  const { idleMainPort, idleProbePort, saturated, blocked, execProbe, loadAverage } = probes;
  const late = missed(probes);
  return [
    '',
    '## Is a probe answered while the main thread is not free?',
    '',
    `The probes request \`/readyz\` as the kubelet does, each on a connection of its own and ${String(pauseBetween)} ms after the last. The time is measured`,
    `from the connect to the last byte of the answer. *Saturated*: ${String(clients)} clients send requests without a pause, and each request takes`,
    `two milliseconds of the main thread. *Blocked*: a callback takes ${String(blockTime / 1_000)} s, and the probes begin when the callback does.`,
    '',
    '| | probes | median, ms | p99, ms | longest, ms |',
    '| --- | --- | --- | --- | --- |',
    row('main port, idle', idleMainPort),
    row('probe port, idle', idleProbePort),
    row('probe port, main thread saturated', saturated),
    row('probe port, main thread blocked', blocked),
    '',
    `The p99 with a saturated or blocked main thread has two limits: ${String(limits.p99)} ms, and ${String(limits.factor)} times the p99 of the idle main port. The`,
    `probe by command must take at most ${String(limits.execProbe)} ms. ${late.length === 0 ? 'All limits are met.' : `Limits that are not met: ${late.join('; ')}.`} The load average of the machine was ${loadAverage.map((load) => load.toFixed(1)).join(' before and ')} after.`,
    '',
    `In the median, \`lameduck probe livez\` takes ${execProbe.own.median.toFixed(0)} ms longer than a Node process that does nothing, which takes ${execProbe.node.toFixed(0)} ms. In a tenth`,
    `of the ${String(execProbe.pairs)} pairs, it took more than ${execProbe.own.p90.toFixed(0)} ms longer.`,
    '',
    '**Limits.** The probe thread needs CPU time. If a cgroup throttles the whole process, or other processes use the whole machine,',
    'probes wait like everything else. If a client probes less than once per second, the main thread answers, if it can within 200 ms.',
    'If the main thread is busy, such a probe waits for up to 200 ms. The first probe after each pause is therefore not counted.',
  ];
}

function row(what: string, { count, median, p99, longest }: Waits): string {
  return `| ${what} | ${String(count)} | ${median.toFixed(1)} | ${p99.toFixed(1)} | ${longest.toFixed(1)} |`;
}
