// Runs one round: a server with random settings, clients of every kind, and a process signal at a random time.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { ProcessUnderTest } from '../../support/process-under-test.ts';
import { seededRandom } from '../../../src/cli/rehearsal/random.ts';
import { http1Clients, type Client } from './http1-clients.ts';
import { http2Clients } from './http2-clients.ts';
import { upgradedClients } from './upgraded-clients.ts';
import { between, kinds, oneOf, pause, World, type Kind, type Random } from './world.ts';

// The whole shutdown budget, in milliseconds. It is the default terminationGracePeriodSeconds minus 2 s.
const budget = 28_000;

// After the server has exited, the connections of all clients must end within this many milliseconds.
const longestLeave = 3_000;

// If the event loop of the test process was blocked for at least this number of milliseconds, a failed round is run
// again. The server closes connections that are silent for one second, and clients pause for at most 700 ms.
const longestStall = 250;

export interface Outcome {
  readonly seed: number;
  readonly plan: string;
  readonly failures: readonly string[];
  readonly answered: number;
  readonly refused: number;
  readonly took: number;
  /** The number of attempts at this round of the simulation, including the attempts whose result was discarded. */
  readonly attempts: number;
}

interface Plan {
  readonly kind: Kind;
  readonly delay: number;
  readonly sendsRetryAfter: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly signalAt: number;
  readonly clients: readonly {
    readonly name: string;
    readonly talk: Client;
    readonly at: number;
    readonly random: Random;
  }[];
}

function planOf(seed: number): Plan {
  const random = seededRandom(seed);
  const kind = oneOf(random, kinds);
  const delay = oneOf(random, [0, 200, 500, 1_000]);
  const sendsRetryAfter = random() < 0.4;
  const signalAt = between(random, 300, 1_300);
  const known: Readonly<Record<string, Client>> = {
    ...(kind === 'h2c' ? {} : { ...http1Clients, ...upgradedClients }),
    ...(kind === 'h2c' || kind === 'h2' ? http2Clients : {}),
  };
  const names = Object.keys(known);
  const count = between(random, 8, 24);
  const clients = Array.from({ length: count }, (_, index) => {
    const name = oneOf(random, names);
    const talk = known[name] as Client;
    // Four of five clients connect before the process signal. The others connect at any time until 1.5 s after the
    // process signal.
    const at = between(random, 0, signalAt + (random() < 0.2 ? 1_500 : 0));
    return { name: `${name} ${String(index + 1)}`, talk, at, random: seededRandom(Math.floor(random() * 2 ** 32)) };
  });
  const environment = {
    KIND: kind,
    LAMEDUCK_SHUTDOWN_DELAY_DURATION: `${String(delay)}ms`,
    LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: String(sendsRetryAfter),
    LAMEDUCK_SHUTDOWN_WATCH_TERMINATION_GRACE_PERIOD: oneOf(random, ['0s', '300ms', '1s', '3s']),
    LAMEDUCK_EVENT_STREAM_RETRY: oneOf(random, ['0s', '3s']),
  };
  return { kind, delay, sendsRetryAfter, environment, signalAt, clients };
}

/**
 * runRound runs one round, whose random choices depend only on the seed. If the event loop of the test process was
 * blocked, the clients may have paused for too long. A failure then proves nothing about the server, and the round is
 * run again.
 */
export async function runRound(seed: number): Promise<Outcome> {
  for (let attempts = 1; ; attempts++) {
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    const outcome = { ...(await attemptRound(seed)), attempts };
    delays.disable();
    const stall = delays.max / 1_000_000;
    if (outcome.failures.length === 0 || stall < longestStall || attempts === 3) return outcome;
  }
}

async function attemptRound(seed: number): Promise<Omit<Outcome, 'attempts'>> {
  const plan = planOf(seed);
  const program = new ProcessUnderTest('serves-every-kind.ts', plan.environment);
  try {
    return await talkAndEnd(seed, plan, program);
  } finally {
    await program[Symbol.asyncDispose]();
  }
}

async function talkAndEnd(seed: number, plan: Plan, program: ProcessUnderTest): Promise<Omit<Outcome, 'attempts'>> {
  const world = new World(plan.kind, await program.ready(), plan.delay, plan.sendsRetryAfter);
  const open = new Set<string>();
  const talking = plan.clients.map(async ({ name, talk, at, random }) => {
    await pause(() => 0, at, at);
    open.add(name);
    try {
      await talk(world, name, random);
    } catch (error) {
      world.fail(`${name}: ${String((error as Error).stack)}`);
    }
    open.delete(name);
  });
  await setTimeout(plan.signalAt);
  const since = performance.now();
  world.tell();
  program.kill('SIGTERM');
  const exit = await Promise.race([program.exit, setTimeout(budget, undefined, { ref: false })]);
  const took = Math.round(performance.now() - since);
  if (exit?.code !== 0) world.failures.push(`exit ${JSON.stringify(exit ?? 'not within the budget')}`);
  const left = await Promise.race([Promise.all(talking), setTimeout(longestLeave, undefined, { ref: false })]);
  if (left === undefined) world.failures.push(`still connected: ${[...open].join(', ')}`);
  if (exit !== undefined) world.judgeResets(await program.acceptedPorts(world.port));
  if (world.failures.length > 0) world.failures.push(...program.output.split('\n').slice(-15));
  return {
    seed,
    plan: `${JSON.stringify(plan.environment)}, signal at ${String(plan.signalAt)} ms, ${plan.clients.map(({ name }) => name).join(', ')}`,
    failures: world.failures,
    answered: world.answered,
    refused: world.refused,
    took,
  };
}
