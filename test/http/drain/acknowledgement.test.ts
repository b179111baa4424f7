// Whose acknowledgement is waited for, by what the kernel's table says at each look.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Acknowledgement } from '../../../src/http/drain/acknowledgement.ts';
import type { Connection } from '../../../src/http/connection.ts';
import type { SocketRow } from '../../../src/http/drain/socket-table.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const row = (remotePort: number, facts: Partial<SocketRow> = {}): SocketRow => ({
  ...{ localPort: 8080, remotePort, remoteAddress: '10.0.0.2' },
  ...{ bytes: 100, unanswered: 0, isOrphan: false, ...facts },
});

const connection = (remotePort: number | undefined, localPort = 8080): Connection =>
  ({ socket: { localPort, remotePort } }) as unknown as Connection;

const ports = new Set([8080]);

/** acknowledgementOf is what sees one of these tables at each look, and the last one from then on. */
function acknowledgementOf(...tables: (readonly SocketRow[])[]): Acknowledgement {
  return new Acknowledgement(
    () => Promise.resolve((tables.length > 1 ? tables.shift() : tables[0]) ?? []),
    new FakeClock(),
  );
}

const remotePorts = (acknowledgement: Acknowledgement) => acknowledgement.rows.map(({ remotePort }) => remotePort);

test('of the connections those are missing that have a send queue, found by both ports', async () => {
  const [waits, hasAll, isElsewhere, isUnix] = [
    connection(1),
    connection(2),
    connection(1, 9090),
    connection(undefined),
  ] as const;
  const missing = await acknowledgementOf([row(1), row(3)]).missing([waits, hasAll, isElsewhere, isUnix]);
  assert.deepEqual([...missing], [waits]);
});

test('a connection stays awaited when it is closed after the first look', async () => {
  const acknowledgement = acknowledgementOf([], [row(1, { isOrphan: true })]);
  await acknowledgement.begin([connection(1)], ports);
  assert.deepEqual(remotePorts(acknowledgement), []);
  await acknowledgement.look();
  assert.deepEqual(remotePorts(acknowledgement), [1]);
});

test('an orphan is awaited on a port of the servers, if it is there at the first look', async () => {
  const orphans = [row(1, { isOrphan: true }), row(2, { isOrphan: true, localPort: 9090 }), row(3)];
  const acknowledgement = acknowledgementOf(orphans, [...orphans, row(4, { isOrphan: true })], []);
  await acknowledgement.begin([], ports);
  assert.deepEqual(remotePorts(acknowledgement), [1]);
  await acknowledgement.look();
  assert.deepEqual(remotePorts(acknowledgement), [1], 'the fourth may be of another process');
  await acknowledgement.look();
  assert.deepEqual(remotePorts(acknowledgement), []);
});

test('a peer that has left four retransmissions unanswered is gone', async () => {
  const acknowledgement = acknowledgementOf([row(1, { unanswered: 3 })], [row(1, { unanswered: 4 })]);
  await acknowledgement.begin([connection(1)], ports);
  assert.deepEqual(remotePorts(acknowledgement), [1]);
  await acknowledgement.look();
  assert.deepEqual(remotePorts(acknowledgement), []);
  assert.equal((await acknowledgement.missing([connection(1)])).size, 0);
});

test('a connection whose response was broken off is not awaited', async () => {
  const acknowledgement = acknowledgementOf([row(1, { isOrphan: true }), row(2, { isOrphan: true })]);
  acknowledgement.abandon({ localPort: 8080, remotePort: 1 });
  await acknowledgement.begin([], ports);
  assert.deepEqual(remotePorts(acknowledgement), [2]);
});
