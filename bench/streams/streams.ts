// Runs the drain of many event streams in its own process.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Streams holds the measurements of one drain with `count` event streams. Durations are in milliseconds. */
export interface Streams {
  readonly count: number;
  /** The number of event streams that ended with their last chunk. */
  readonly whole: number;
  readonly tookMs: number;
  /** How long single turns of the event loop blocked all other work, in milliseconds. */
  readonly stillMs: { readonly median: number; readonly p99: number; readonly longest: number };
}

/** drainStreams shuts down a server with `count` event streams. */
export async function drainStreams(count: number): Promise<Streams> {
  const script = join(import.meta.dirname, 'drain.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=4096', script, String(count)]);
  return { count, ...(JSON.parse(stdout) as Omit<Streams, 'count'>) };
}
