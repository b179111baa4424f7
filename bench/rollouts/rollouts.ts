// Counts with `lameduck rehearse` how many requests fail in a rollout of a bare server and of a server with each
// compared package.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result } from '../../src/cli/rehearsal/result.ts';

/** Rollout has the numbers of requests of one rehearsed rollout, and the verdict that `lameduck rehearse` printed. */
export interface Rollout {
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  readonly verdict: string;
}

/**
 * Rollouts holds the results of the rehearsed rollouts of one shutdown package: with the package's default options, and
 * with a shutdown delay.
 */
export interface Rollouts {
  readonly name: string;
  readonly asDocumented: readonly Rollout[];
  readonly delayed: readonly Rollout[];
}

/**
 * The value of `--propagation`: the longest time until a simulated node learns of the deletion of a pod, in seconds.
 * Every node needs another 0.3 s, which this value does not include.
 */
export const propagation = 2;

/**
 * The shutdown delay, in seconds, of the servers that are rehearsed with a delay. It is the same for every compared
 * package.
 */
export const delay = 5;

/** The grace period in seconds, after which a server is killed. */
export const gracePeriod = 15;

const serve = fileURLToPath(new URL('../losses/serve.ts', import.meta.url));
const lameduck = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/**
 * measureRollouts rehearses the rollout of a server with each of the packages `names` one after another, each `rounds`
 * times.
 */
export async function measureRollouts(names: readonly string[], rounds: number): Promise<Rollouts[]> {
  const all: Rollouts[] = [];
  for (const name of names) {
    const asDocumented: Rollout[] = [];
    const delayed: Rollout[] = [];
    for (let seed = 1; seed <= rounds; seed++) {
      // Run both rehearsals at the same time. They do not slow each other down on a machine with two cores.
      const [first, second] = await Promise.all([rehearse(seed, name), rehearse(seed, name, String(delay * 1_000))]);
      asDocumented.push(first);
      delayed.push(second);
    }
    all.push({ name, asDocumented, delayed });
    const failed = [asDocumented, delayed].map((list) => list.map(({ lost, refused }) => lost + refused).join(' '));
    console.log(`${name}: failed requests per rollout ${failed.join(', with a delay ')}`);
  }
  return all;
}

async function rehearse(seed: number, ...server: readonly string[]): Promise<Rollout> {
  const times = ['--propagation', `${String(propagation)}s`, '--grace-period', String(gracePeriod)];
  const { output, result } = await runRehearsal(['--seed', String(seed), ...times], server);
  const { requests, lost, refused } = result;
  return { requests, lost, refused, verdict: verdictIn(output) };
}

/**
 * runRehearsal runs `lameduck rehearse` on a server of losses/serve.ts, and returns the output and the JSON result of
 * the rehearsal.
 */
export async function runRehearsal(
  options: readonly string[],
  server: readonly string[],
): Promise<{ readonly output: string; readonly result: Result }> {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-'));
  try {
    const json = join(folder, 'result.json');
    const args = ['rehearse', '--json', json, ...options, '--', process.execPath, serve, ...server];
    const command = spawn(process.execPath, [lameduck, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    command.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await once(command, 'close');
    return { output, result: JSON.parse(readFileSync(json, 'utf8')) as Result };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Returns the lines with the verdict and its causes. The later lines, with the kinds of clients that sent no request and
// the seed, are left out.
function verdictIn(output: string): string {
  const text = /^rollout: (?:lost|clean|withheld)[^]*/m.exec(output)?.[0] ?? output;
  return text.split(/^(?: {2}kinds of clients|to repeat)/m)[0]?.trimEnd() ?? '';
}
