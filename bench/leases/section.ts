// Writes the section "What does leader election cost?" of docs/benchmarks.md.
import type { Leases, Requests } from './leases.ts';

export function leasesSection({ leader, watching, polling, cpu, effort }: Leases): string[] {
  return [
    '',
    '## What does leader election cost?',
    '',
    'This table shows the requests of an elector to the API server, and its additional CPU time compared with an idle Node process.',
    '[leader-election.md](leader-election.md#at-a-shutdown) shows how long a hand-over takes on a cluster.',
    '',
    '| role of the elector | reads per hour | writes per hour | watches per hour | requests per second | additional CPU time, ms per minute |',
    '| --- | --- | --- | --- | --- | --- |',
    row('leader', leader, cpu.leader - cpu.idle),
    row('follower with a watch', watching, cpu.watching - cpu.idle),
    row('follower without a watch', polling, cpu.polling - cpu.idle),
    '',
    '**Method.** The electors have their default settings. A local HTTP server that follows the rules of the Lease API counted their',
    `requests over ${String(effort.minutes)} minutes of a fake clock. The count began after each elector had run for a minute. The server ended each`,
    `watch after 5 minutes. The CPU time was measured over ${String(effort.seconds)} s of real time, with one process of each kind, all at the same time.`,
    `During this measurement, another leader renewed the Lease of the followers every 2 s. A Node process that does nothing took ${cpu.idle.toFixed(1)} ms per minute. The load`,
    `average of the machine was ${cpu.loadAverage.toFixed(1)}. On a busy machine, the CPU times vary by half.`,
    '',
    '**Limits.** The server that replaces the API server is on the same machine and has no TLS. The measured costs therefore contain neither the cost of',
    'encryption nor the load on etcd.',
  ];
}

function row(what: string, { reads, writes, watches }: Requests, cpu: number): string {
  const perSecond = ((reads + writes + watches) / 3_600).toFixed(3);
  return `| ${what} | ${String(reads)} | ${String(writes)} | ${String(watches)} | ${perSecond} | ${cpu.toFixed(1)} |`;
}
