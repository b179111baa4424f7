// Measures the start and the end of a program with lameduck. For the start, it measures the time until the first
// response and the longest turn of the event loop.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Profiler } from 'node:inspector';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { reservePort } from '../../test/support/reserved-port.ts';
import { medianParts, partsOf, samplingInterval, type Parts } from '../cpu-profile.ts';
import { median } from '../statistics.ts';

/**
 * `ways` lists the ways in which the measured program can use lameduck. With `bare`, the program does not load
 * lameduck.
 */
export const ways = ['bare', 'code', 'register'] as const;
export type Way = (typeof ways)[number];

/**
 * The type Start holds how long the start and the exit of a program take. Each time is the median of all runs, in
 * milliseconds.
 */
export interface Start {
  readonly runs: number;
  readonly byWay: Readonly<Record<Way, { readonly firstResponse: number; readonly longestTurn: number }>>;
  /**
   * How long `require('lameduck')` takes in a process that has already loaded node:http, in milliseconds. The field
   * `import` is how long `import('lameduck')` takes.
   */
  readonly require: number;
  readonly import: number;
  /**
   * The CPU time that Node, lameduck and the program use from the first line of the program to the first response, in
   * milliseconds.
   */
  readonly parts: Readonly<Record<'bare' | 'code', Parts>>;
  /** The time from when the client has received the last response to the end of the process. */
  readonly exit: number;
}

const dist = join(import.meta.dirname, '..', '..', 'dist');
const server = join(import.meta.dirname, 'server.cjs');
const args: Readonly<Record<Way, readonly string[]>> = {
  bare: [],
  code: [],
  register: ['--require', join(dist, 'register.cjs')],
};

/**
 * measureStart starts processes of each kind in turn, so that a slow period of the machine affects all kinds equally.
 */
export async function measureStart(runs: number): Promise<Start> {
  const responses: Record<Way, number[]> = { bare: [], code: [], register: [] };
  const longest: Record<Way, number[]> = { bare: [], code: [], register: [] };
  const loads: Record<'require' | 'import', number[]> = { require: [], import: [] };
  const exits: number[] = [];
  const profiles: Record<'bare' | 'code', Parts[]> = { bare: [], code: [] };
  for (let run = 0; run < runs; run++) {
    for (const way of run % 2 === 0 ? ways : ways.toReversed()) {
      responses[way].push(await firstResponse(way));
      longest[way].push(await longestTurn(way));
    }
    loads.require.push(await loadTime(`require(${JSON.stringify(join(dist, 'index.cjs'))}).lameduck`));
    loads.import.push(await loadTime(`await import(${JSON.stringify(join(dist, 'index.mjs'))})`));
    exits.push(await exitTime());
    for (const way of ['bare', 'code'] as const) profiles[way].push(await profileOf(way));
  }
  const of = (way: Way): { firstResponse: number; longestTurn: number } => ({
    firstResponse: median(responses[way]),
    longestTurn: median(longest[way]),
  });
  return {
    runs,
    byWay: { bare: of('bare'), code: of('code'), register: of('register') },
    require: median(loads.require),
    import: median(loads.import),
    parts: { bare: medianParts(profiles.bare), code: medianParts(profiles.code) },
    exit: median(exits),
  };
}

async function request(child: ChildProcess): Promise<Socket> {
  const socket = connect(Number(await firstLine(child)), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  return socket;
}

async function firstResponse(way: Way): Promise<number> {
  const probePort = await reservePort();
  const since = performance.now();
  const child = start(way, { LAMEDUCK_PROBE_PORT: String(probePort) });
  const exit = once(child, 'exit');
  const socket = await request(child);
  await once(socket, 'data');
  const took = performance.now() - since;
  child.kill('SIGKILL');
  socket.destroy();
  await exit;
  return took;
}

async function profileOf(way: Way): Promise<Parts> {
  const probePort = String(await reservePort());
  const child = start(way, { LAMEDUCK_PROBE_PORT: probePort, PROFILE: String(samplingInterval) });
  const exit = once(child, 'exit');
  const socket = await request(child);
  const [profile] = (await firstLine(child)) as [Profiler.Profile];
  child.kill('SIGKILL');
  socket.destroy();
  await exit;
  return Object.fromEntries(Object.entries(partsOf(profile)).map(([part, time]) => [part, time / 1_000]));
}

async function longestTurn(way: Way): Promise<number> {
  const child = start(way, { LAMEDUCK_PROBE_PORT: String(await reservePort()), TURNS: 'yes' });
  const exit = once(child, 'exit');
  const turns = (await firstLine(child)) as { readonly wallMs: number }[];
  await exit;
  return Math.max(...turns.map(({ wallMs }) => wallMs));
}

async function loadTime(expression: string): Promise<number> {
  const code = `require('node:http'); (async () => {
    const since = performance.now(); ${expression}; console.log(performance.now() - since);
  })()`;
  const child = spawn(process.execPath, ['--eval', code], { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const took = Number(await firstLine(child));
  await exit;
  return took;
}

// Sends SIGTERM to the server while one request is in flight. When the client has the response, it closes its
// connection. Returns how long the server then takes to exit, in milliseconds.
async function exitTime(): Promise<number> {
  const child = start('code', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '0s', LAMEDUCK_LOG_LEVEL: 'silent' });
  const exit = once(child, 'exit');
  const socket = connect(Number(await firstLine(child)), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'data');
  socket.write('GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n', () => child.kill('SIGTERM'));
  await once(socket, 'data');
  const since = performance.now();
  socket.end();
  const [code] = (await exit) as [number | null];
  if (code !== 0) throw new Error(`the server ended with ${String(code)}`);
  return performance.now() - since;
}

function start(way: Way, variables: Readonly<Record<string, string>>): ChildProcess {
  const env = { ...variables, ...(way === 'code' ? { BY: 'code' } : {}) };
  return spawn(process.execPath, [...args[way], server], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** firstLine resolves with the first line that the program itself prints. */
function firstLine(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      const line = text.split('\n').find((one, index, all) => index < all.length - 1 && !one.startsWith('{'));
      if (line !== undefined) resolve(JSON.parse(line));
    });
  });
}
