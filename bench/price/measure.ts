// Measures the CPU time that a shutdown package adds to a request. One process runs a bare server and a server with the
// package. The two servers are measured in turn, for short periods called windows.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { get, post, ResponseReader } from '../../test/support/closed-loop-client.ts';
import type { Question, Side } from './host.ts';
import { Load } from './load.ts';

/**
 * Pair has the measurements of two successive periods of load: one on the bare server, and one on the server with the
 * shutdown package. Each number is the CPU time of the process per request, in nanoseconds.
 */
export interface Pair {
  /** The CPU time of a whole request over loopback. */
  readonly bare: number;
  readonly other: number;
  /**
   * The CPU time that the shutdown package adds to a request, from the event `request` to the end of the response. For
   * this measurement, the server's process emits `request` itself and gets no HTTP message.
   */
  readonly increment: number;
}

export interface Effort {
  readonly processes: number;
  readonly pairs: number;
}

export const connections = 16;
export const wholeRequests = 1_000;
export const directRequests = 10_000;
export const warmUpPairs = 20;

/**
 * `measure()` returns the pairs of measurements of each process. A pair has one measurement of the bare server, and one
 * of the server with the shutdown package. `measure()` throws if the two servers send different responses.
 */
export async function measure(name: string, { processes, pairs }: Effort): Promise<Pair[][]> {
  const groups: Pair[][] = [];
  for (let index = 0; index < processes; index++) groups.push(await measureOnce(name, pairs));
  return groups;
}

async function measureOnce(name: string, count: number): Promise<Pair[]> {
  const host = fork(new URL('./host.ts', import.meta.url), [name], {
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [[barePort, otherPort]] = (await once(host, 'message')) as [[number, number]];
    const length = await checkEqual(name, barePort, otherPort);
    using bare = await Load.open(barePort, connections, length);
    using other = await Load.open(otherPort, connections, length);
    const loads = { bare, other };
    const pairs: Pair[] = [];
    for (let index = 0; index < warmUpPairs + count; index++) {
      // Swap the order of the two servers in each pair of measurements. If the machine becomes slower or faster, both
      // servers are then affected equally.
      const order: Side[] = index % 2 === 0 ? ['bare', 'other'] : ['other', 'bare'];
      const whole = { bare: 0, other: 0 };
      const direct = { bare: 0, other: 0 };
      for (const side of order) whole[side] = await wholeWindow(host, loads[side]);
      for (const side of order) direct[side] = await directWindow(host, side);
      if (index < warmUpPairs) continue;
      pairs.push({ bare: whole.bare, other: whole.other, increment: direct.other - direct.bare });
    }
    return pairs;
  } finally {
    host.kill('SIGKILL');
  }
}

async function wholeWindow(host: ChildProcess, load: Load): Promise<number> {
  const before = await ask(host, { ask: 'usage' });
  await load.run(wholeRequests);
  const after = await ask(host, { ask: 'usage' });
  return ((after - before) * 1_000) / wholeRequests;
}

async function directWindow(host: ChildProcess, of: Side): Promise<number> {
  const microseconds = await ask(host, { ask: 'direct', of, requests: directRequests });
  return (microseconds * 1_000) / directRequests;
}

async function ask(host: ChildProcess, question: Question): Promise<number> {
  const answered = once(host, 'message') as Promise<[number]>;
  host.send(question);
  return (await answered)[0];
}

// Returns the number of bytes in the response to a GET. From this number, the load generator knows when a response is
// complete.
async function checkEqual(name: string, barePort: number, otherPort: number): Promise<number> {
  for (const request of [get, post]) {
    const [bare, other] = [await answerOf(barePort, request), await answerOf(otherPort, request)];
    if (bare !== other) throw new Error(`${name} does not answer as node:http does:\n${other}\n${bare}`);
  }
  return lengthOf(barePort);
}

/** lengthOf returns the number of bytes in the response to a GET. The response contains only ASCII characters. */
export async function lengthOf(port: number): Promise<number> {
  return (await answerOf(port, get)).length;
}

async function answerOf(port: number, request: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  const reader = new ResponseReader(socket);
  socket.write(request);
  const response = await reader.next();
  socket.destroy();
  if (response === undefined) throw new Error('no answer');
  return `${response.head.replace(/^Date: .*$/im, 'Date: Thu, 01 Jan 1970 00:00:00 GMT')}\r\n${response.body}`;
}
