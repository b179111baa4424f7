// Shuts down one server under load: thirty clients send requests and never retry, and the server gets SIGTERM. Then
// counts the results of the requests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { get, newAccount, post, runClient } from '../../test/support/closed-loop-client.ts';

/** Shutdown holds what the clients of a server observed during one shutdown of this server. */
export interface Shutdown {
  readonly answered: number;
  /**
   * The number of lost requests on connections that the server had accepted. A request is lost if the client gets no
   * complete response. The number does not include requests that a client sent after it had received `Connection:
   * close` or a FIN.
   */
  readonly lost: number;
  /** The number of lost requests on connections that the server never accepted. */
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
  // A client opens connections one after another, and ends when a connection is refused.
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
