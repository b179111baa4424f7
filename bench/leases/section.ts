// Writes the section "What does leader election cost?" of docs/benchmarks.md.
import type { Leases, Requests } from './leases.ts';

export function leasesSection({ leader, watching, polling, cpu, effort }: Leases): string[] {
  return [
    '',
    '## What does leader election cost?',
    '',
    'Requests to the API server, and CPU time per minute beyond that of a Node process that does nothing. The hand-over times are in',
    '[leader-election.md](leader-election.md#at-a-shutdown), because a cluster is needed to measure them.',
    '',
    '| | reads per hour | writes per hour | watches per hour | requests per second | CPU, ms per minute |',
    '| --- | --- | --- | --- | --- | --- |',
    row('leader', leader, cpu.leader - cpu.idle),
    row('follower with a watch', watching, cpu.watching - cpu.idle),
    row('follower without a watch', polling, cpu.polling - cpu.idle),
    '',
    '**Method.** The electors have their default settings. A local HTTP server with the rules of the Lease API counted their requests',
    `over ${String(effort.minutes)} minutes of a fake clock. The count began after each elector had reached its steady state. The server ended each`,
    `watch after 5 minutes. The CPU time was measured over ${String(effort.seconds)} s of real time, for one process of each kind, all at once. Another`,
    `candidate renewed the Lease of the followers every 2 s. The process that does nothing took ${cpu.idle.toFixed(1)} ms per minute. The load`,
    `average of the machine was ${cpu.loadAverage.toFixed(1)}. On a busy machine the CPU times vary by half.`,
    '',
    '**Limits.** The local server is near and has no TLS. These figures therefore contain neither the cost of encryption nor the load',
    'on etcd.',
  ];
}

function row(what: string, { reads, writes, watches }: Requests, cpu: number): string {
  const perSecond = ((reads + writes + watches) / 3_600).toFixed(3);
  return `| ${what} | ${String(reads)} | ${String(writes)} | ${String(watches)} | ${perSecond} | ${cpu.toFixed(1)} |`;
}
