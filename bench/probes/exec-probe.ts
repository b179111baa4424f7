// Measures how long the built command `lameduck probe` runs, and how long a Node process without a program runs. The
// difference between the two times is the time that the command itself takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { quantile } from '../statistics.ts';

/** ExecProbe holds the run times of `lameduck probe` and of an empty Node process, in milliseconds. */
export interface ExecProbe {
  readonly pairs: number;
  /** The median time from the start to the end of a Node process that does nothing. */
  readonly node: number;
  /** How much longer `lameduck probe` runs than a Node process that does nothing. */
  readonly own: { readonly median: number; readonly p90: number };
}

const command = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');

/**
 * execProbe runs pairs of processes: the command `lameduck probe`, and a process that does nothing. Their order changes
 * from pair to pair.
 */
export async function execProbe(probePort: number, pairs: number): Promise<ExecProbe> {
  if (!existsSync(command)) throw new Error('there is no dist: npm run build');
  const nothing: string[] = [];
  const probing = [command, 'probe', 'livez', '--port', String(probePort), '--timeout', '10s'];
  const nodes: number[] = [];
  const owns: number[] = [];
  for (let index = -1; index < pairs; index++) {
    const isProbeFirst = index % 2 === 0;
    const first = await run(isProbeFirst ? probing : nothing);
    const second = await run(isProbeFirst ? nothing : probing);
    const [probe, node] = isProbeFirst ? [first, second] : [second, first];
    // Ignore the warm-up runs (negative `index`): they also read the files of Node and lameduck from disk.
    if (index < 0) continue;
    nodes.push(node);
    owns.push(probe - node);
  }
  return { pairs, node: quantile(nodes, 0.5), own: { median: quantile(owns, 0.5), p90: quantile(owns, 0.9) } };
}

async function run(args: readonly string[]): Promise<number> {
  const since = performance.now();
  // Without arguments, Node reads its program from standard input, which is empty here.
  const child = spawn(process.execPath, args, { env: {}, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${String(code)}`);
  return performance.now() - since;
}
