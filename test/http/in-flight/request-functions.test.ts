import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeKinds, serve } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

describeKinds((kind) => {
  it('P-033 the function longRunning is called with the documented request object when a stream opens, and its result decides how the stream is counted', async (t) => {
    const asked: Record<string, unknown>[] = [];
    const streams: unknown[] = [];
    const serving = await serve(t, kind, {
      functions: {
        longRunning: (request) => {
          const { method, url, httpVersion, headers, socket } = request;
          streams.push((request as { stream?: unknown }).stream);
          asked.push({ method, url, httpVersion, mark: headers['x-mark'], port: socket.remotePort });
          return headers['x-mark'] === 'watch';
        },
      },
      listener: (_path, _answer, request) => {
        streams.push('stream' in request ? request.stream : request);
      },
    });
    const client = await serving.dial();
    void client.request('/watch?all', { 'x-mark': 'watch' });
    await until(() => streams.length === 2);
    const upload = client.session.request({ ':path': '/x', ':method': 'POST', 'x-mark': 'no' }, { endStream: false });
    upload.on('error', () => undefined);
    await until(() => streams.length === 4);
    const common = { httpVersion: '2.0', port: client.session.socket.localPort };
    assert.deepEqual(asked, [
      { ...common, method: 'GET', url: '/watch?all', mark: 'watch' },
      { ...common, method: 'POST', url: '/x', mark: 'no' },
    ]);
    assert.equal(streams[0], streams[1], 'longRunning must get the stream that the program gets');
    assert.equal(streams[2], streams[3]);
    assert.deepEqual(serving.traffic.counts, { connections: 1, requestsInFlight: 1, longRunningRequests: 1 });
  });
});
