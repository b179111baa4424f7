import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeKinds, serve } from '../../support/serving-http2.ts';

describeKinds((kind) => {
  it('A-171, A-174 requestTimeout and maxRequestsInflight apply to HTTP/2', async (t) => {
    const serving = await serve(t, kind, {
      maxRequestsInflight: 1,
      requestTimeout: '200ms',
      listener: () => undefined,
    });
    const client = await serving.dial();
    const [first, second] = await Promise.all([client.request('/first'), client.request('/second')]);
    assert.deepEqual([first.status, second.status], [504, 429]);
    assert.equal(second.headers['retry-after'], '1');
  });

  it('A-161, A-217 with goawayChance, the server sends a GOAWAY after some HTTP/2 requests, the client reconnects, and no request is lost', async (t) => {
    const serving = await serve(t, kind, {
      goawayChance: 0.02,
      listener: (path, answer) => {
        answer.respond(200);
        answer.end(path);
      },
    });
    let client = await serving.dial();
    let sessions = 1;
    for (let sent = 0; sent < 1_500; sent++) {
      if (client.session.closed || client.session.destroyed) {
        client = await serving.dial();
        sessions++;
      }
      const { isWhole, code } = await client.request('/');
      assert.ok(isWhole || code === 7, `a request was lost with the HTTP/2 error code ${String(code)}`);
    }
    assert.ok(sessions > 5 && sessions < 100, `the clients used ${String(sessions)} sessions`);
  });
});
