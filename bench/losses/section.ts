// Writes the section of docs/benchmarks.md about the requests that shutdowns lose.
import { cells, label, range } from '../format.ts';
import type { Results } from '../results.ts';
import { clients, gracePeriod, type Shutdown } from './shutdown.ts';

export function lossesSection({ shutdowns, effort }: Results): string[] {
  const columns = effort.delays.map((delay) => `delay ${String(delay / 1_000)} s`);
  return [
    '',
    '## What does a shutdown lose?',
    '',
    `The benchmark sends requests from ${String(clients)} clients, half of them with GET and half with POST. Each client keeps one connection open. A client sends its next`,
    'request as soon as the last response has arrived, and never retries. A response takes 10 ms. After a second, the process of the',
    'server receives SIGTERM.',
    '',
    'A *lost* request got no complete response, although it was sent on an accepted connection before the client saw',
    '`Connection: close` or a FIN. The columns *requests lost on a never accepted connection* count the other requests without a',
    'response: the server never accepted their connections. A client stops when its new connection is refused, because a single process',
    'cannot avoid this refusal.',
    '',
    `Each number is the median of ${String(effort.rounds)} shutdowns, with the lowest and the highest number in brackets. A process that has not exited after ${String(gracePeriod / 1_000)} s is`,
    'killed, as the kubelet does after the grace period. The delay is how long the server still serves every request after SIGTERM.',
    'If a package has an option for the delay, the benchmark sets this option. Otherwise, the benchmark waits for the delay before it',
    'calls the package. Like most clients, the clients of the benchmark do not check before a request whether the server has sent a FIN.',
    '',
    `| package | ${columns.map((column) => `${column}: requests lost | ${column}: requests lost on a never accepted connection | ${column}: seconds until the exit`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(columns.length * 3)}`,
    ...Object.entries(shutdowns).map(([name, byDelay]) =>
      cells(label(name, 'bare `server.close()`'), ...byDelay.flatMap(outcome)),
    ),
    '',
    '**Limits.** The clients of this benchmark keep every connection busy all the time. This is the hardest case for a package that waits for',
    'idle connections, and the easiest for a package that resets them. Clients that are silent for a while are not measured.',
    'A load balancer or proxy that stops sending connections to the server is not measured either.',
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
