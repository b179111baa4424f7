// Tests requests, responses and sockets whose properties the program has replaced by properties that throw. Such an
// error must affect only the connection of the object.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it, test } from 'node:test';
import { visitEach } from '../../src/http/visit-each.ts';
import { describeAdapters, serve, shutdownOf } from '../support/serving.ts';
import { until } from '../support/until.ts';

test('if the callback of visitEach() throws for an item, visitEach() reports the error and still visits the other items', () => {
  const [visited, errors]: [number[], unknown[]] = [[], []];
  const visit = (item: number): void => {
    visited.push(item);
    if (item === 2) throw new Error('two');
  };
  visitEach([1, 2, 3], visit, (error) => errors.push(error));
  assert.deepEqual([visited, errors.map(String)], [[1, 2, 3], ['Error: two']]);
});

// Replaces the named properties of `object` with getters that throw, as a Proxy or a getter of a program may do.
function breakProperties(object: object, names: readonly string[]): void {
  for (const name of names) {
    Object.defineProperty(object, name, {
      get() {
        throw new Error(`no ${name}`);
      },
      // The property needs a setter: when a connection closes, Node itself assigns some properties of the response,
      // such as `destroyed`.
      set() {
        /* Ignore the assigned value. */
      },
    });
  }
}

// Returns the name of every property of a response, except the properties that Node itself reads when the connection
// closes. If one of the excepted properties threw, the program would have an uncaught error even without lameduck.
function namesOf(object: object): string[] {
  const chain = [object];
  for (let next = object; ; chain.push(next)) {
    next = Object.getPrototypeOf(next) as object;
    if (next === Object.prototype) break;
  }
  return [...new Set(chain.flatMap(Object.getOwnPropertyNames))].filter(
    (name) => !name.startsWith('_') && name !== 'emit',
  );
}

describeAdapters((adapter) => {
  it('P-001, P-023 if reading the properties of a response object throws, the drain cuts this response and names it in the log, and all other responses get Connection: close', async (t) => {
    const held: { readonly request: IncomingMessage; readonly response: ServerResponse }[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => held.push({ request, response }),
    });
    const [broken, other] = [await serving.dial(), await serving.dial()];
    broken.get('/broken');
    await until(() => held.length === 1);
    other.get('/');
    await until(() => held.length === 2);
    const [first, second] = held;
    assert.ok(first !== undefined && second !== undefined);
    breakProperties(first.response, ['headersSent', 'writableFinished']);
    breakProperties(first.request, ['method']);
    const ended = serving.handle.shutdown('test', { budget: 4_000 });
    await serving.handle.signals.shutdownInitiated.signaled;
    second.response.end();
    assert.equal((await other.reader.next())?.isClose, true);
    const { exitCode, requests, stepFailures } = await ended;
    assert.deepEqual({ exitCode, answered: requests.answered }, { exitCode: 80, answered: 1 });
    assert.deepEqual(
      serving.unfinished.map(({ route }) => route),
      ['*'],
    );
    assert.deepEqual(stepFailures[0], { step: 'check connections', error: 'no headersSent' });
    await broken.reader.ended;
  });

  it('P-001 if the property headersSent of a response throws when lameduck reads it, the error does not reach the handler during the drain', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: ({ url }, response) => {
        if (url !== '/') breakProperties(response, ['headersSent']);
        response.end('ok');
      },
    });
    const [client, other] = [await serving.dial(), await serving.dial()];
    const { ended } = shutdownOf(serving);
    client.get('/broken');
    other.get('/');
    assert.equal((await client.reader.next())?.body, 'ok');
    assert.equal((await other.reader.next())?.isClose, true);
    assert.equal((await ended).requests.answered, 2);
  });

  it('P-001 if reading any property of one response object throws, only the step `check connections` fails, and all other responses are sent completely', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, { adapter, listener: (_request, response) => held.push(response) });
    const [broken, other, sharing] = [await serving.dial(), await serving.dial(), await serving.dial()];
    for (const client of [broken, other, sharing]) {
      const before = held.length;
      client.get('/');
      await until(() => held.length > before);
    }
    const [first, ...rest] = held;
    assert.ok(first !== undefined);
    // Make every property of this response throw. Node can then no longer send the response, so the drain need not wait
    // for it.
    breakProperties(first, namesOf(first));
    const ended = serving.handle.shutdown('test', { budget: 4_000 });
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    for (const response of rest) response.end('whole');
    for (const client of [other, sharing]) assert.equal((await client.reader.next())?.body, 'whole');
    const { requests, stepFailures } = await ended;
    assert.equal(requests.answered, 2);
    assert.deepEqual([...new Set(stepFailures.map(({ step }) => step))], ['check connections']);
    await broken.reader.ended;
  });

  it('P-001 if reading localPort or remotePort of one socket throws, the drain still handles every other connection', async (t) => {
    const held: IncomingMessage[] = [];
    const serving = await serve(t, { adapter, listener: (request) => held.push(request) });
    const [broken, idle] = [await serving.dial(), await serving.dial()];
    broken.get('/');
    await until(() => held.length === 1);
    for (const { socket } of held) breakProperties(socket, ['localPort', 'remotePort']);
    const { stepFailures } = await serving.handle.shutdown('test', { budget: 4_000 });
    assert.deepEqual(stepFailures, []);
    await Promise.all([broken.reader.ended, idle.reader.ended]);
  });
});
