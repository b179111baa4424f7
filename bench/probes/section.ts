// The part of the page about probes.
import { blockTime, clients, limits, missed, pauseBetween, type Probes, type Waits } from './probes.ts';

/** probesSection returns its lines. */
export function probesSection(probes: Probes): string[] {
  const { idleMainPort, idleProbePort, saturated, blocked, execProbe, loadAverage } = probes;
  const late = missed(probes);
  return [
    '',
    '## Is a probe answered while the main thread is not free?',
    '',
    `Probes of \`/readyz\` as the kubelet sends them, each on a connection of its own and ${String(pauseBetween)} ms behind the last, with the time from`,
    `the connect to the last byte of the answer. *Saturated*: ${String(clients)} clients that never pause,`,
    'each of whose requests takes two milliseconds of the main thread. *Blocked*: a',
    `callback that takes ${String(blockTime / 1_000)} s, probed from its beginning.`,
    '',
    '| | probes | median, ms | p99, ms | longest, ms |',
    '| --- | --- | --- | --- | --- |',
    row('main port, idle', idleMainPort),
    row('probe port, idle', idleProbePort),
    row('probe port, main thread saturated', saturated),
    row('probe port, main thread blocked', blocked),
    '',
    `The limits: a p99 of at most ${String(limits.factor)} times that of the idle main port and ${String(limits.p99)} ms with the main thread saturated and blocked, and ${String(limits.execProbe)} ms`,
    `for the probe by command. ${late.length === 0 ? 'All are kept.' : `Not kept: ${late.join('; ')}.`} The load average of the machine was ${loadAverage.map((load) => load.toFixed(1)).join(' before and ')} after.`,
    '',
    `\`lameduck probe livez\` takes ${execProbe.own.median.toFixed(0)} ms in the median beyond a Node process that does nothing, which takes ${execProbe.node.toFixed(0)} ms; of`,
    `${String(execProbe.pairs)} pairs a tenth took more than ${execProbe.own.p90.toFixed(0)} ms.`,
    '',
    '**Limits.** The thread needs a CPU: where a cgroup takes it from the whole process, or other processes from the whole machine,',
    'probes wait with everything else. Who asks less than once a second is answered by the main thread when it can within 200 ms, and',
    'so waits for up to 200 ms where it is busy: the first probe behind each pause is sent, and not counted.',
  ];
}

function row(what: string, { count, median, p99, longest }: Waits): string {
  return `| ${what} | ${String(count)} | ${median.toFixed(1)} | ${p99.toFixed(1)} | ${longest.toFixed(1)} |`;
}
