// Sends the reference service the same requests that clients once sent to a real kube-apiserver during its shutdown.
// Each client must get the same results as the client of the kube-apiserver, except for the errors that were faults of
// the kube-apiserver. These errors must not occur.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { silenceBeforeClose } from '../../src/http/drain/drain.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import type { Response } from '../support/closed-loop-client.ts';
import { Client } from '../support/serving.ts';

const delay = 600;
// Times in milliseconds. `postBefore` is the time from the start of a POST to the process signal. `postAfter` is the
// time from the process signal to the end of the body of this POST. `period` is the time between two requests of each
// client that sends no POST.
const postBefore = 200;
const postAfter = 900;
const period = 50;

interface Sight {
  readonly at: number;
  readonly askedAt?: number;
  readonly client: string;
  readonly saw: string;
  readonly isClose?: boolean;
  /** The local port of the client. It is set only if the connection of the client ended without a response. */
  readonly cutPort?: number | undefined;
}

for (const retryAfter of [false, true]) {
  describe(`with shutdownSendRetryAfter ${String(retryAfter)}, clients see the same as the clients of a kube-apiserver during a recorded shutdown`, () => {
    it('A-003, A-106, A-120, P-001, P-002, P-077, K-215 the clients see no reset, get Connection: close before the listening socket closes, and can use an idle connection until it has been silent for one second', async (t) => {
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
        '/readyz must fail from the next probe on',
      );
      assert.ok(firstOf('/readyz', '500') < notAcceptingAt);
      for (const path of ['/livez', '/healthz']) {
        const saws = of(path).map(({ saw }) => saw);
        assert.ok(
          saws.every((saw) => saw === '200' || isRefusal(saw)),
          `${path} must pass until the listener closes: ${saws.join()}`,
        );
        const isGreenAfterSignal = of(path).some(({ saw, at }) => saw === '200' && at > signalAt + period);
        assert.ok(isGreenAfterSignal, `${path} must respond after the process signal: ${saws.join()}`);
      }
      const told = of('kept').find(({ isClose }) => isClose === true)?.at ?? Infinity;
      assert.ok(
        told > signalAt && told < notAcceptingAt,
        'the client with a keep-alive connection must get Connection: close before NotAcceptingNewRequest',
      );
      assert.equal(
        of('/').some(({ saw }) => saw === '429'),
        retryAfter,
      );

      // Use the time in the log line. The time at which this test reads the line may be later.
      const { time } = await service.signaled('ShutdownInitiated');
      const silence = (await silentEnd) + performance.timeOrigin - Number(time);
      assert.ok(
        silence >= 0.95 * silenceBeforeClose,
        `the silent socket must stay open until it has been silent for one second: it was open for ${String(silence)} ms`,
      );
      assert.equal(silent.reader.error, undefined, 'the server must end the connection with a FIN');
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

// When a listening socket closes, the kernel resets connections that the process has not accepted yet (P-018).
function isRefusal(saw: string): boolean {
  return saw === 'ECONNREFUSED' || saw === 'ECONNRESET';
}

// Waits for the fixed time between two requests of a client in the recorded shutdown of a kube-apiserver. No event ends
// this wait.
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
