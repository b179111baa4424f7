// Clients that once observed a real kube-apiserver while it shut down, now pointed at the reference service. Tests what
// these clients may see, and what a kube-apiserver shows them and lameduck must not.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { linger } from '../../src/http/drain/drain.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import type { Response } from '../support/closed-loop-client.ts';
import { Client } from '../support/serving.ts';

const delay = 600;
// How long before and after the signal the POST is sent, and how often the other clients send a request, in
// milliseconds.
const postBefore = 200;
const postAfter = 900;
const period = 50;

interface Sight {
  readonly at: number;
  readonly askedAt?: number;
  readonly client: string;
  readonly saw: string;
  readonly isClose?: boolean;
  /** The client's port, if its connection ended without an answer. */
  readonly cutPort?: number | undefined;
}

for (const retryAfter of [false, true]) {
  describe(`shutdownSendRetryAfter ${String(retryAfter)}`, () => {
    it('A-003, A-106, A-120, P-001, P-002, P-077, K-215 the apiserver’s clients see no reset, are told in time, and silence is outlived', async (t) => {
      const service = disposed(
        t,
        new ProcessUnderTest(
          '../../examples/reference-service/main.ts',
          {
            PORT: '0',
            LAMEDUCK_SHUTDOWN_DELAY_DURATION: `${String(delay)}ms`,
            LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: String(retryAfter),
          },
          ['--import', new URL('../fixtures/accepted-ports.ts', import.meta.url).href],
        ),
      );
      await service.signaled('HasBeenReady');
      const start = await service.line('the start line', ({ addresses }) => addresses !== undefined);
      const port = Number(/:(\d+)$/.exec(String((start['addresses'] as string[])[0]))?.[1]);
      const dial = async (): Promise<Client> => {
        const socket = connect({ port, host: '127.0.0.1' });
        const { localPort } = socket;
        try {
          await once(socket, 'connect');
        } catch (error) {
          throw Object.assign(error as NodeJS.ErrnoException, { localPort });
        }
        return new Client(socket);
      };

      const sights: Sight[] = [];
      const stop = new AbortController();
      const see = (sight: Omit<Sight, 'at'>): void => {
        sights.push({ at: performance.now(), ...sight });
      };
      const silent = await dial();
      const askers = [
        ...['/', '/readyz', '/livez', '/healthz'].map(async (path) =>
          askOnNewConnections(path, dial, see, stop.signal),
        ),
        askOnOneConnection(dial, see, stop.signal),
      ];
      const post = await dial();
      post.send(
        `POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"item":`,
      );
      await pause(postBefore);
      const signalAt = performance.now();
      service.kill('SIGTERM');
      const initiated = service.signaled('ShutdownInitiated').then(() => performance.now());
      const notAccepting = service.signaled('NotAcceptingNewRequest').then(() => performance.now());
      const silentEnd = silent.ended();
      await pause(postAfter);
      post.send('1}');
      const created = await post.reader.next();
      assert.deepEqual([created?.status, created?.isClose], [201, true]);
      const { code } = await service.exit;
      stop.abort();
      await Promise.all(askers);
      assert.equal(code, 0);

      const of = (client: string): Sight[] => sights.filter((sight) => sight.client === client);
      const firstOf = (client: string, saw: string): number =>
        of(client).find((sight) => sight.saw === saw)?.at ?? Infinity;
      const notAcceptingAt = await notAccepting;
      const accepted = new Set<number | undefined>(await service.acceptedPorts(port));
      assert.deepEqual(
        sights.filter(({ cutPort }) => accepted.has(cutPort)),
        [],
      );
      const initiatedAt = await initiated;
      const late = of('/readyz').filter(({ askedAt = 0 }) => askedAt > initiatedAt);
      assert.ok(
        late.every(({ saw }) => saw !== '200'),
        'red with the next probe',
      );
      assert.ok(firstOf('/readyz', '500') < notAcceptingAt);
      for (const path of ['/livez', '/healthz']) {
        const saws = of(path).map(({ saw }) => saw);
        assert.ok(
          saws.every((saw) => saw === '200' || isRefusal(saw)),
          `${path} is green to the end: ${saws.join()}`,
        );
        const isGreenAfterSignal = of(path).some(({ saw, at }) => saw === '200' && at > signalAt + period);
        assert.ok(isGreenAfterSignal, `${path} answers after the signal: ${saws.join()}`);
      }
      const told = of('kept').find(({ isClose }) => isClose === true)?.at ?? Infinity;
      assert.ok(told > signalAt && told < notAcceptingAt, 'the kept client is told before NotAcceptingNewRequest');
      assert.equal(
        of('/').some(({ saw }) => saw === '429'),
        retryAfter,
      );

      const left = linger - delay;
      // By the log itself, since this process may have come to read it late.
      const { time } = await service.signaled('NotAcceptingNewRequest');
      const outlived = (await silentEnd) + performance.timeOrigin - Number(time);
      assert.ok(
        outlived >= left / 2,
        `the silent socket outlives it by what is left of the linger: ${String(outlived)} of ${String(left)}`,
      );
      assert.equal(silent.reader.error, undefined, 'ended by FIN');
    });
  });
}

type See = (sight: Omit<Sight, 'at'>) => void;

async function ask(client: string, path: string, connection: Client, see: See): Promise<Response | undefined> {
  const askedAt = performance.now();
  connection.get(path);
  const response = await connection.reader.next();
  if (response === undefined) {
    const { error = 'cut', localPort } = connection.reader;
    see({ client, askedAt, saw: error, cutPort: localPort });
  } else {
    see({ client, askedAt, saw: String(response.status), isClose: response.isClose });
  }
  return response;
}

function seeFailure(client: string, error: unknown, see: See): void {
  const { code = String(error), localPort } = error as NodeJS.ErrnoException & { localPort?: number };
  see({ client, saw: code, cutPort: localPort });
}

async function askOnNewConnections(
  path: string,
  dial: () => Promise<Client>,
  see: See,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    try {
      await ask(path, path, await dial(), see);
    } catch (error) {
      seeFailure(path, error, see);
    }
    await pause(period);
  }
}

async function askOnOneConnection(dial: () => Promise<Client>, see: See, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      const client = await dial();
      let response;
      do {
        response = await ask('kept', '/', client, see);
        await pause(period);
      } while (response?.isClose === false && !client.socket.readableEnded);
    } catch (error) {
      seeFailure('kept', error, see);
      await pause(period);
    }
  }
}

// A connection that nobody had accepted when the listener closed is reset by the kernel (P-018).
function isRefusal(saw: string): boolean {
  return saw === 'ECONNREFUSED' || saw === 'ECONNRESET';
}

// The clients' own rhythm, as in the transcript; nothing waits for a moment to have come by it.
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
