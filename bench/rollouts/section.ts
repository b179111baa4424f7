// Writes the section "What does a rollout lose?" of docs/benchmarks.md.
import { cells, label, range } from '../format.ts';
import type { Rate } from './rate.ts';
import { delay, gracePeriod, propagation, type Rollout, type Rollouts } from './rollouts.ts';

/**
 * rolloutsSection returns the section "What does a rollout lose?" of docs/benchmarks.md, as Markdown lines. `rounds` is
 * how many times each package was rehearsed with the same options.
 */
export function rolloutsSection(all: readonly Rollouts[], rounds: number): string[] {
  const find = (wanted: string): readonly Rollout[] => all.find(({ name }) => name === wanted)?.asDocumented ?? [];
  return [
    '',
    '## What does a rollout lose?',
    '',
    'For each row of the table, [`lameduck rehearse`](rehearse.md) runs a server, and ends its pod while the Service has other pods. A request',
    `*failed* if it was lost or refused. Each node still sends new connections to the pod for 0.3 s to ${(propagation + 0.3).toFixed(1)} s after the deletion of the pod.`,
    `Each figure is the median of ${String(rounds)} rollouts, with the lowest and the highest figure in brackets.`,
    '',
    `| package | ${['default', `delay ${String(delay)} s`].flatMap((one) => [`${one}: requests failed`, `${one}: requests lost`, `${one}: requests refused`]).join(' | ')} |`,
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...all.map(({ name, asDocumented, delayed }) =>
      cells(label(name, 'bare `server.close()`'), ...figures(asDocumented), ...figures(delayed)),
    ),
    '',
    '**Method.** The server answers after 10 ms. In the columns *default*, each package is added as in the first example of its README, without',
    'an option. The default delay of lameduck in a cluster is 10 s, that of lightship is 5 s, and the other packages have none. In the columns with a delay, each server',
    `still serves everything for ${String(delay)} s after SIGTERM. After ${String(gracePeriod)} s, a server is killed. Each round has the same seed for all rows. If the`,
    'package has an option for the delay, the benchmark sets this option. Otherwise, the benchmark waits for the delay before it calls the package.',
    '',
    'The last lines that `lameduck rehearse` prints for bare `server.close()` are:',
    '',
    '```',
    ...lastLines(find('bare')),
    '```',
    '',
    'For bare `server.close()`, the exit code differs [from run to run](rehearse.md#why-the-exit-code-differs). If a request is in flight',
    'on a kept-alive connection at SIGTERM, the exit code is 137.',
    '',
    'The last lines that `lameduck rehearse` prints for `lameduck(server)` are:',
    '',
    '```',
    ...lastLines(find('lameduck')),
    '```',
    '',
    '**Limits.** No proxy or load balancer is between the clients and the pod. A proxy that retries hides some of the failed requests.',
  ];
}

function figures(rollouts: readonly Rollout[]): string[] {
  return [
    range(rollouts.map(({ lost, refused }) => lost + refused)),
    range(rollouts.map(({ lost }) => lost)),
    range(rollouts.map(({ refused }) => refused)),
  ];
}

// Searches the rehearsals for the first whose verdict is not `withheld`, and returns the last lines of its output.
function lastLines(rollouts: readonly Rollout[]): string[] {
  const { verdict } = rollouts.find((one) => !one.verdict.includes('withheld')) ?? rollouts[0] ?? { verdict: '' };
  return verdict.split('\n');
}

export function rateSection({ asked, answered, requests, lost, refused, verdict }: Rate): string[] {
  return [
    '',
    '## How many requests per second can a rehearsal send?',
    '',
    `\`lameduck rehearse --rate ${String(asked)}\` got ${answered.toFixed(0)} responses per second, with the clients and the server on this machine. The rate was`,
    'measured while all clients sent requests to the pod. This time began half a second after the first response, and ended when the pod was deleted.',
    `The verdict was \`${verdict}\`, after ${String(requests)} requests, ${String(lost)} lost and ${String(refused)} refused. If the clients could not send requests`,
    'at this rate, the verdict would be `withheld`.',
  ];
}
