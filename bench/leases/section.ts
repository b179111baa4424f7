// The part of the page about leader election.
import type { Leases, Requests } from './leases.ts';

/** leasesSection returns its lines. */
export function leasesSection({ leader, watching, polling, cpu, effort }: Leases): string[] {
  return [
    '',
    '## What does leader election cost?',
    '',
    'Requests per hour to the API server, and CPU time per minute beyond that of a Node process that does nothing.',
    '',
    '| | reads per hour | writes per hour | watches per hour | CPU, ms per minute |',
    '| --- | --- | --- | --- | --- |',
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
  return `| ${what} | ${String(reads)} | ${String(writes)} | ${String(watches)} | ${cpu.toFixed(1)} |`;
}
