// Tests how the kernel's tables of TCP sockets show whether a debugger is attached.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { hasConnection, isAttached } from '../../src/probe-worker/debugger.ts';

const head =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     \n';
const row = (local: string, remote: string, state: string): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 12345 1 0000000000000000 100 0 0 10 0\n`;

test('a debugger counts as attached if the port of the inspector has an established connection', () => {
  const listener = row('0100007F:240D', '00000000:0000', '0A');
  const debuggers = row('0100007F:240D', '0100007F:C350', '01');
  assert.ok(hasConnection(head + listener + debuggers, 9229));
  assert.ok(
    hasConnection(
      head + row('00000000000000000000000001000000:240D', '00000000000000000000000001000000:C350', '01'),
      9229,
    ),
  );
  // Three sockets that do not count as an attached debugger. They are the debugger's own side of a connection, a
  // closing socket, and a socket with another port.
  const others = [
    row('0100007F:C350', '0100007F:240D', '01'),
    row('0100007F:240D', '0100007F:C350', '06'),
    row('0100007F:240E', '0100007F:C350', '01'),
  ];
  assert.ok(!hasConnection(head + listener + others.join(''), 9229));
});

test('while the inspector is closed, no debugger is attached; while it is open, a debugger is attached as long as a client is connected to it', async (t) => {
  assert.ok(!isAttached(0));
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // If the kernel does not show the sockets, lameduck assumes that a debugger is attached whenever the inspector is
  // open.
  assert.equal(isAttached(port), process.platform !== 'linux');
  const client = connect(port, '127.0.0.1');
  t.after(() => client.destroy());
  await once(server, 'connection');
  assert.ok(isAttached(port));
});
