// Tests a gRPC server in a program with lameduck/register.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Client, credentials, status, type StatusObject } from '@grpc/grpc-js';
import { disposed } from '../support/disposed.ts';
import { startUnderRegister } from '../support/under-register.ts';

for (const { path, kind } of [
  { path: '/shop.Orders/Watch', kind: 'whose response has begun' },
  { path: '/shop.Orders/Wait', kind: 'that has sent nothing' },
]) {
  test(`P-033, P-035 the drain ends a long-running gRPC stream ${kind} with the status UNAVAILABLE, without waiting until the handler ends the stream`, async (t) => {
    const env = { LAMEDUCK_LONG_RUNNING_PATHS: '/shop.Orders', LAMEDUCK_SHUTDOWN_WATCH_TERMINATION_GRACE_PERIOD: '0s' };
    const subject = disposed(t, startUnderRegister('streams-over-grpc.ts', env));
    const client = new Client(`127.0.0.1:${String(await subject.ready())}`, credentials.createInsecure());
    t.after(() => {
      client.close();
    });
    const stream = client.makeServerStreamRequest(path, (text: string) => Buffer.from(text), String, 'orders');
    stream.on('error', () => undefined);
    // `once()` would reject because of the error event, which the gRPC call emits before its status.
    const ended = new Promise<StatusObject>((resolve) => stream.on('status', resolve));
    if (path === '/shop.Orders/Watch') await once(stream, 'data');
    await subject.line('the call', ({ msg }) => msg === `called ${path}`);
    subject.kill('SIGTERM');
    assert.equal(status[(await ended).code], 'UNAVAILABLE');
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    const { longRunningEnded, unfinished } = await subject.finalLine();
    assert.deepEqual([longRunningEnded, unfinished], [1, []]);
  });
}
