// Tests a program that replaces `writeHead` of all its responses, and does not pass on the headers that lameduck adds.
// Also tests a program that sends its headers with `writeHeader`, the deprecated name of `writeHead` (DEP0063).
import assert from 'node:assert/strict';
import { ServerResponse, type OutgoingHttpHeaders } from 'node:http';
import { it } from 'node:test';
import type { AdapterName } from '../../support/adapters.ts';
import { describeAdapters, serve, shutdownOf, type Scope } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

// The headers that the program's `writeHead` passes on to Node, for each path. `writeHead` drops all others, also those
// that lameduck adds.
const ownHeaders: Readonly<Record<string, OutgoingHttpHeaders>> = {
  '/without': { 'X-Own': '1' },
  '/keep-alive': { Connection: 'keep-alive' },
};

// eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its response as `this`
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (this: ServerResponse, status: number, ...rest: never[]) {
  const own = ownHeaders[this.req.url ?? ''];
  return own === undefined ? writeHead.call(this, status, ...rest) : writeHead.call(this, status, own);
};

type WriteHeader = (this: ServerResponse, status: number, headers?: OutgoingHttpHeaders) => ServerResponse;
const { writeHeader } = ServerResponse.prototype as { readonly writeHeader?: WriteHeader };
const without = writeHeader === undefined && 'this version of Node has no method writeHeader';

/**
 * heldInShutdown sends a request to `path`. When the handler has stored the response in `held` without sending it,
 * heldInShutdown begins the shutdown.
 */
async function heldInShutdown(t: Scope, adapter: AdapterName, path: string) {
  const held: ServerResponse[] = [];
  const serving = await serve(t, { adapter, listener: (_, response) => held.push(response) });
  const client = await serving.dial();
  client.get(path);
  await until(() => held.length === 1);
  const { ended } = shutdownOf(serving);
  await serving.handle.signals.notAcceptingNewRequest.signaled;
  return { held, client, ended };
}

describeAdapters((adapter) => {
  it("P-001 a response gets Connection: close even if the program's writeHead drops the headers that lameduck adds", async (t) => {
    const { held, client, ended } = await heldInShutdown(t, adapter, '/without');
    held[0]?.end();
    assert.equal((await client.reader.next())?.isClose, true);
    await client.reader.ended;
    assert.equal((await ended).exitCode, 0);
  });

  it("P-001 if the program's writeHead sends Connection: keep-alive during the shutdown, the connection serves one more request, and gets a FIN when it has been silent for one second", async (t) => {
    const { held, client, ended } = await heldInShutdown(t, adapter, '/keep-alive');
    for (const count of [1, 2]) {
      held[count - 1]?.end();
      assert.equal((await client.reader.next())?.isClose, false);
      if (count === 1) client.get('/keep-alive');
      await until(() => held.length === 2);
    }
    await client.reader.ended;
    assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN');
    assert.equal((await ended).exitCode, 0);
  });

  it(
    'P-001 a response gets Connection: close if its handler sends the headers with writeHeader',
    { skip: without },
    async (t) => {
      const { held, client, ended } = await heldInShutdown(t, adapter, '/');
      const [response] = held as (ServerResponse & { writeHeader: WriteHeader })[];
      response?.writeHeader(200, { 'X-Own': '1' }).end();
      const answer = await client.reader.next();
      assert.match(answer?.head ?? '', /^x-own: 1\r$/im);
      assert.equal(answer?.isClose, true);
      await client.reader.ended;
      assert.equal((await ended).exitCode, 0);
    },
  );
});
