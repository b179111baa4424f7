// Tests busy clients of @grpc/grpc-js. After a GOAWAY, the client library itself fails the calls that it has not sent
// yet.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { systemClock } from '../../../src/clock.ts';
import { BusyGrpcClient } from '../../support/grpc.ts';
import { serve, streamOf, streamsWithoutTls } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

const clientCount = 12;

// The five-byte prefix of a gRPC message whose content is empty.
const message = Buffer.alloc(5);

test('P-003, P-043 busy gRPC clients that never retry see no failed call during the shutdown delay', async (t) => {
  const serving = await serve(t, streamsWithoutTls, {
    shutdownDelayDuration: '1500ms',
    listener: (_path, _answer, request) => {
      const stream = streamOf(request);
      systemClock.after(Math.random() * 10, () => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => {
          stream.sendTrailers({ 'grpc-status': String(status.OK) });
        });
        stream.end(message);
      });
    },
  });
  const { notAcceptingNewRequest } = serving.handle.signals;
  const clients = Array.from({ length: clientCount }, () => new BusyGrpcClient(serving.port));
  t.after(() => {
    for (const client of clients) client.close();
  });
  const hasDelayEnded = (): boolean => notAcceptingNewRequest.hasSignaled;
  const refused: string[] = [];
  const loops = clients.flatMap((client) =>
    Array.from({ length: 4 }, async () => {
      while (!hasDelayEnded()) {
        const error = await client.call();
        if (error !== undefined && !hasDelayEnded()) refused.push(`${String(error.code)} ${error.details}`);
      }
    }),
  );
  await until(() => clients.every(({ answered }) => answered > 10));
  const sessions = serving.traffic.connectionsAccepted;
  const ended = serving.handle.shutdown('test');
  await notAcceptingNewRequest.signaled;
  assert.deepEqual(refused, []);
  assert.ok(
    serving.traffic.connectionsAccepted >= sessions + clientCount,
    'each client got its GOAWAY during the shutdown delay',
  );
  await Promise.all(loops);
  assert.equal((await ended).exitCode, 0);
});
