// Measures how many requests per second a rehearsal sends on this machine, which also runs the rehearsed server.
import { runRehearsal } from './rollouts.ts';

/** Rate holds the results of one rehearsal at a high rate of requests. */
export interface Rate {
  /** The value of the option `--rate` of `lameduck rehearse`, in requests per second. */
  readonly asked: number;
  /** The mean number of responses per second in the measured time. */
  readonly answered: number;
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  /**
   * The verdict that the rehearsal printed. The verdict is `withheld` if the clients could not send requests at the
   * rate in `asked`.
   */
  readonly verdict: string;
}

const asked = 6_000;
const connections = 200;

// The longest time until a simulated node learns of a new or deleted pod, in milliseconds. The time is short, because
// the clients of a node cannot send requests to a new pod until the node has learned of it.
const propagation = 100;

/** measureRate rehearses a rollout of a server with lameduck while clients send thousands of requests per second. */
export async function measureRate(): Promise<Rate> {
  const load = [
    '--rate',
    String(asked),
    '--connections',
    String(connections),
    '--propagation',
    `${String(propagation)}ms`,
  ];
  const { result } = await runRehearsal([...load, '--grace-period', '20'], ['lameduck', '10000']);
  const { verdict, requests, lost, refused } = result;
  const events = result.scenarios[0]?.events ?? [];
  const reports = events
    .filter(({ kind }) => kind === 'requests')
    .map(({ at, detail }) => ({ at, answered: Number(detail['answered']) }));
  // Ignore the first half second of requests, in which the server compiles its code.
  const start = (reports.find(({ answered }) => answered > 0)?.at ?? 0) + 500;
  const end = events.find(({ kind }) => kind === 'podDeleted')?.at ?? 0;
  const measured = reports.filter(({ at }) => at >= start && at <= end);
  const [first, last] = [measured[0], measured.at(-1)];
  if (first === undefined || last === undefined || first === last)
    throw new Error('the rehearsal has no measured time');
  const answered = ((last.answered - first.answered) / (last.at - first.at)) * 1_000;
  return { asked, answered, requests, lost, refused, verdict };
}
