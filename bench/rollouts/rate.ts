// Measures how many requests per second a rehearsal sends on this machine, which also runs the rehearsed server.
import { median } from '../statistics.ts';
import { runRehearsal } from './rollouts.ts';

/** Rate holds the requests of one rehearsal. */
export interface Rate {
  /** The value of the option `--rate` of `lameduck rehearse`, in requests per second. */
  readonly asked: number;
  /** The median of the responses per second, from the first second with requests to the end of the pod. */
  readonly answered: number;
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  /** The verdict of the rehearsal. It is `withheld` if the clients could not send requests at this rate. */
  readonly verdict: string;
}

const asked = 6_000;
const connections = 200;

/** measureRate rehearses a rollout of a server with lameduck at a high rate. */
export async function measureRate(): Promise<Rate> {
  const load = ['--rate', String(asked), '--connections', String(connections), '--propagation', '5s'];
  const { result } = await runRehearsal([...load, '--grace-period', '20'], ['lameduck', '10000']);
  const { verdict, requests, lost, refused } = result;
  const events = result.scenarios[0]?.events ?? [];
  const answers = events
    .filter(({ kind }) => kind === 'requests')
    .map(({ at, detail }) => ({ at, answered: Number(detail['answered']) }));
  const end = events.find(({ kind }) => kind === 'podDeleted')?.at ?? Infinity;
  const rates = answers.flatMap(({ at, answered }, index) => {
    const before = answers[index - 1];
    return before === undefined || before.answered === 0 || at > end
      ? []
      : [((answered - before.answered) / (at - before.at)) * 1_000];
  });
  return { asked, answered: median(rates), requests, lost, refused, verdict };
}
