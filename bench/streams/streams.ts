// Runs the drain of many event streams in a process of its own.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Streams is how the drain of so many event streams went, in milliseconds. */
export interface Streams {
  readonly count: number;
  /** How many of them ended with their last chunk. */
  readonly whole: number;
  readonly tookMs: number;
  /** How long a turn of the event loop delayed other work. */
  readonly stillMs: { readonly median: number; readonly p99: number; readonly longest: number };
}

/** drainStreams shuts a server with `count` event streams down. */
export async function drainStreams(count: number): Promise<Streams> {
  const script = join(import.meta.dirname, 'drain.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=4096', script, String(count)]);
  return { count, ...(JSON.parse(stdout) as Omit<Streams, 'count'>) };
}
