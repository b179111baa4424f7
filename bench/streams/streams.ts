// Measures how long the drain of very many streams takes. In one measurement, the streams are on sockets between two
// processes. In the other, the server and the clients are in one process, and the connections are in memory.
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Ends } from './clients.ts';
import type { Stills } from './host.ts';
import type { StreamKind } from './kinds.ts';

/**
 * InMemory holds the measurements of one drain with `count` event streams on connections in memory. Durations are in
 * milliseconds.
 */
export interface InMemory {
  readonly count: number;
  /** The number of event streams that received their last chunk. */
  readonly whole: number;
  readonly tookMs: number;
  readonly stillMs: Stills;
}

/**
 * The type Drain holds the measurements of one drain whose streams are on real sockets. Durations are in milliseconds
 * from SIGTERM.
 */
export interface Drain {
  readonly kind: StreamKind;
  readonly count: number;
  /**
   * The number of streams that ended completely: with the last chunk (HTTP/1.1), END_STREAM (HTTP/2) or the close code
   * 1001 (WebSocket).
   */
  readonly whole: number;
  readonly lastEndMs: number;
  readonly exitMs: number;
  readonly exitCode: number | null;
  readonly stillMs: Stills;
}

/**
 * drainInMemory opens `count` event streams on connections in memory, which need no sockets, and shuts the server down.
 */
export async function drainInMemory(count: number): Promise<InMemory> {
  const script = join(import.meta.dirname, 'in-memory.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=4096', script, String(count)]);
  return { count, ...(JSON.parse(stdout) as Omit<InMemory, 'count'>) };
}

/**
 * drainSockets starts a server, opens `count` event streams or WebSockets over real sockets, sends SIGTERM to the
 * server, and measures the drain.
 */
export async function drainSockets(kind: StreamKind, count: number): Promise<Drain> {
  const host = start('host.ts', kind);
  const [port] = (await once(host, 'message')) as [number];
  const clients = start('clients.ts', kind, String(port), String(count));
  await once(clients, 'message');
  const ends = once(clients, 'message') as Promise<[Ends]>;
  const stills = once(host, 'message') as Promise<[Stills]>;
  const exit = once(host, 'exit') as Promise<[number | null]>;
  const since = performance.timeOrigin + performance.now();
  host.kill('SIGTERM');
  const [exitCode] = await exit;
  const exitMs = performance.timeOrigin + performance.now() - since;
  const [{ whole, lastAt }] = await ends;
  const [stillMs] = await stills;
  return { kind, count, whole, lastEndMs: lastAt - since, exitMs, exitCode, stillMs };
}

function start(script: string, ...args: readonly string[]): ChildProcess {
  return fork(join(import.meta.dirname, script), args, { env: {}, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}
