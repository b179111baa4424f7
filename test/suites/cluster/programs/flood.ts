// Keeps a server busy: for some seconds, each of many keep-alive connections always waits for a response. Prints how
// many requests got a response or failed.
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Flood is the output of this program: how many requests got a response, how many failed for each reason, and how long
 * the slowest took.
 */
export interface Flood {
  readonly connections: number;
  readonly answered: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly slowestMilliseconds: number;
}

const [target = '', connections = '', seconds = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const failures: Record<string, number> = {};
let answered = 0;
let slowestMilliseconds = 0;

function ask(): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const began = performance.now();
  const fail = (reason: string) => (failures[reason] = (failures[reason] ?? 0) + 1);
  get(target, { agent }, (response) => {
    response.resume().once('close', () => {
      if (response.complete && response.statusCode === 200) answered += 1;
      else fail(`status ${String(response.statusCode)}`);
      slowestMilliseconds = Math.max(slowestMilliseconds, Math.round(performance.now() - began));
      resolve(undefined);
    });
  }).once('error', ({ message }) => {
    fail(message);
    resolve(undefined);
  });
  return promise;
}

const end = performance.now() + Number(seconds) * 1000;
const askers = Array.from({ length: Number(connections) }, async (_, index) => {
  await pause(index); // Open one connection after another, because the backlog of a server is limited.
  while (performance.now() < end) await ask();
});
await Promise.all(askers);
agent.destroy();
const flood: Flood = { connections: Number(connections), answered, failures, slowestMilliseconds };
console.log(JSON.stringify(flood));
