// One shutdown under load: thirty clients that never retry send requests, the server gets SIGTERM, and the results of
// the requests are counted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { get, newAccount, post, runClient } from '../../test/support/closed-loop-client.ts';

/** Shutdown holds the results of one shutdown, as its clients see it. */
export interface Shutdown {
  readonly answered: number;
  /**
   * The number of requests without a complete response. Requests count only if the server had accepted their
   * connection, and had not announced that it would close the connection.
   */
  readonly lost: number;
  /** The number of requests without a complete response on connections that the server had never accepted. */
  readonly neverAccepted: number;
  /** Milliseconds from SIGTERM to the end of the process. */
  readonly milliseconds: number;
  readonly wasKilled: boolean;
}

export const clients = 30;
export const gracePeriod = 12_000;
const loadBefore = 1_000;

/**
 * shutDown starts a server with one of the compared shutdown packages, sends it requests, and sends it SIGTERM. It
 * kills the server after the grace period.
 */
export async function shutDown(name: string, delay: number): Promise<Shutdown> {
  const path = fileURLToPath(new URL('./serve.ts', import.meta.url));
  const server = spawn(process.execPath, [path, name, String(delay)], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(server, 'close');
  const accepted = new Set<number>();
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      const [word, number] = line.split(' ');
      if (word === 'accepted') accepted.add(Number(number));
      if (word === 'listening') resolve(Number(number));
    });
    server.once('exit', () => {
      reject(new Error(`the server with ${name} ended before it listened`));
    });
  });

  const account = newAccount();
  const stop = new AbortController();
  const running = Array.from({ length: clients }, (_, index) =>
    runClient({ port, request: index % 2 === 0 ? get : post, account, stop: stop.signal }),
  );
  await sleep(loadBefore);
  const start = performance.now();
  server.kill('SIGTERM');
  let wasKilled = false;
  const kill = setTimeout(() => {
    wasKilled = server.kill('SIGKILL');
  }, gracePeriod);
  await exit;
  clearTimeout(kill);
  const milliseconds = performance.now() - start;
  // Each client stops when its next connection is refused.
  await Promise.race([Promise.all(running), sleep(2_000)]);
  stop.abort();

  const neverAccepted = account.lostPorts.filter(
    (lostPort) => lostPort !== undefined && !accepted.has(lostPort),
  ).length;
  return {
    answered: account.answered,
    lost: account.lost.length - neverAccepted,
    neverAccepted,
    milliseconds,
    wasKilled,
  };
}
