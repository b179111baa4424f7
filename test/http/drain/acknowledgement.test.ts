// Tests when the drain waits until a client has acknowledged the last byte of its response. The drain reads the
// acknowledgements from the kernel's socket table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Acknowledgement } from '../../../src/http/drain/acknowledgement.ts';
import type { Connection } from '../../../src/http/connection.ts';
import type { SocketRow } from '../../../src/http/drain/socket-table.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const row = (remotePort: number, facts: Partial<SocketRow> = {}): SocketRow => ({
  localPort: 8080,
  remotePort,
  remoteAddress: '10.0.0.2',
  bytes: 100,
  unanswered: 0,
  isOrphan: false,
  ...facts,
});

const connection = (remotePort: number | undefined, localPort = 8080): Connection =>
  ({ socket: { localPort, remotePort } }) as unknown as Connection;

const ports = new Set([8080]);

/**
 * acknowledgementOf returns an Acknowledgement. Its first read of the socket table returns the first of `tables`, its
 * second read the second, and so on. All later reads return the last of `tables`.
 */
function acknowledgementOf(...tables: (readonly SocketRow[])[]): Acknowledgement {
  return new Acknowledgement(
    () => Promise.resolve((tables.length > 1 ? tables.shift() : tables[0]) ?? []),
    new FakeClock(),
  );
}

const remotePorts = (acknowledgement: Acknowledgement) => acknowledgement.rows.map(({ remotePort }) => remotePort);

test('lameduck finds a connection with unacknowledged bytes in the socket table by its local and its remote port', async () => {
  const [waits, hasAll, isElsewhere, isUnix] = [
    connection(1),
    connection(2),
    connection(1, 9090),
    connection(undefined),
  ] as const;
  const missing = await acknowledgementOf([row(1), row(3)]).missing([waits, hasAll, isElsewhere, isUnix]);
  assert.deepEqual([...missing], [waits]);
});

test('if a connection is closed after the first read of the socket table, the drain still waits until the client has acknowledged all bytes on this connection', async () => {
  const acknowledgement = acknowledgementOf([], [row(1, { isOrphan: true })]);
  await acknowledgement.begin([connection(1)], ports);
  assert.deepEqual(remotePorts(acknowledgement), []);
  await acknowledgement.look();
  assert.deepEqual(remotePorts(acknowledgement), [1]);
});

test('for a socket that was closed before the drain, the drain waits until the client has acknowledged all bytes, but only if the drain finds the socket, on the port of a server, when it first reads the socket table', async () => {
  const orphans = [row(1, { isOrphan: true }), row(2, { isOrphan: true, localPort: 9090 }), row(3)];
  const acknowledgement = acknowledgementOf(orphans, [...orphans, row(4, { isOrphan: true })], []);
  await acknowledgement.begin([], ports);
  assert.deepEqual(remotePorts(acknowledgement), [1]);
  await acknowledgement.look();
  assert.deepEqual(
    remotePorts(acknowledgement),
    [1],
    'the drain must not wait for the fourth socket, which may belong to another process',
  );
  await acknowledgement.look();
  assert.deepEqual(remotePorts(acknowledgement), []);
});

test('the drain stops waiting for a peer after four retransmissions without an acknowledgement', async () => {
  const acknowledgement = acknowledgementOf([row(1, { unanswered: 3 })], [row(1, { unanswered: 4 })]);
  await acknowledgement.begin([connection(1)], ports);
  assert.deepEqual(remotePorts(acknowledgement), [1]);
  await acknowledgement.look();
  assert.deepEqual(remotePorts(acknowledgement), []);
  assert.equal((await acknowledgement.missing([connection(1)])).size, 0);
});

test('if lameduck has cut a response, the drain does not wait until the client has acknowledged the bytes of this response', async () => {
  const acknowledgement = acknowledgementOf([row(1, { isOrphan: true }), row(2, { isOrphan: true })]);
  acknowledgement.abandon({ localPort: 8080, remotePort: 1 });
  await acknowledgement.begin([], ports);
  assert.deepEqual(remotePorts(acknowledgement), [2]);
});
