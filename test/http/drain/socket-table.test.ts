// Tests parsing the kernel's tables of TCP sockets, as Linux writes them on little-endian and big-endian machines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSocketTable } from '../../../src/http/drain/socket-table.ts';

const head =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     \n';

interface Columns {
  readonly local?: string;
  readonly remote?: string;
  readonly state?: string;
  readonly queue?: string;
  readonly retransmissions?: string;
  readonly probes?: string;
  readonly inode?: string;
}

function line(columns: Columns = {}): string {
  const { local = '0100007F:1F90', remote = '0200000A:E6DE', state = '01', queue = '00000064' } = columns;
  const { retransmissions = '00000000', probes = '0', inode = '58578' } = columns;
  const counts = `${retransmissions}     0 ${probes.padStart(8)} ${inode}`;
  return `   0: ${local} ${remote} ${state} ${queue}:00000000 04:00000012 ${counts} 2 0000000058764711 20 4 30 10 -1 \n`;
}

const only = (text: string, byteOrder: 'LE' | 'BE' = 'LE') => {
  const [row, ...others] = parseSocketTable(text, byteOrder);
  assert.ok(row);
  assert.deepEqual(others, []);
  return row;
};

test('the parsed row of a socket with unacknowledged bytes contains its ports, the address of its peer and the number of these bytes', () => {
  assert.deepEqual(parseSocketTable(head + line(), 'LE'), [
    {
      localPort: 8080,
      remotePort: 59102,
      remoteAddress: '10.0.0.2',
      bytes: 100,
      unanswered: 0,
      isOrphan: false,
    },
  ]);
});

test('the parsed socket table contains only sockets with unacknowledged bytes, and thus no listening sockets, idle connections or sockets in TIME_WAIT', () => {
  const timeWait =
    '   1: 020200C0:8BE8 507100CB:01BB 06 00000000:00000000 03:0000149C 00000000     0        0 0 3 0000000052084e76\n';
  const listening =
    '   0: 00000000:07E8 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 128 1 00000000746faef8 100 0 0 10 0\n';
  assert.deepEqual(parseSocketTable(head + listening + timeWait + line({ queue: '00000000' }), 'LE'), []);
});

test('addresses are parsed in the byte order of the machine, and ports always with the most significant byte first', () => {
  assert.equal(only(line({ remote: '0A000002:E6DE' }), 'BE').remoteAddress, '10.0.0.2');
  assert.equal(only(line({ remote: '0A000002:E6DE' }), 'LE').remoteAddress, '2.0.0.10');
  assert.equal(only(line({ remote: '0A000002:E6DE' }), 'BE').remotePort, 59102);
});

for (const [address, little, big] of [
  ['2001:db8::1', 'B80D0120000000000000000001000000', '20010DB8000000000000000000000001'],
  ['fe80::1034:56ff:fe78:9abc', '000080FE00000000FF563410BC9A78FE', 'FE80000000000000103456FFFE789ABC'],
  ['::1', '00000000000000000000000001000000', '00000000000000000000000000000001'],
  ['::ffff:10.99.0.2', '0000000000000000FFFF00000200630A', '00000000000000000000FFFF0A630002'],
] as const) {
  test(`an IPv6 address is written as Node writes it: ${address}`, () => {
    const local = '00000000000000000000000000000000:1F90';
    assert.equal(only(line({ local, remote: `${little}:E6DE` })).remoteAddress, address);
    assert.equal(only(line({ local, remote: `${big}:E6DE` }), 'BE').remoteAddress, address);
    assert.equal(only(line({ local, remote: `${little}:E6DE` })).localPort, 8080);
  });
}

test('in every TCP state, an unacknowledged FIN does not count as an unacknowledged byte', () => {
  for (const state of ['04', '09', '0B']) assert.equal(only(line({ state, queue: '00000065' })).bytes, 100, state);
  assert.equal(only(line({ state: '04', queue: '00000001' })).bytes, 0);
  assert.equal(only(line({ state: '08' })).bytes, 100, 'in CLOSE_WAIT, the FIN is that of the peer');
});

test('a socket counts as an orphan if the program has closed it while it had unacknowledged bytes; a socket that is open, or has not been accepted, is no orphan', () => {
  for (const state of ['04', '09', '0B']) assert.equal(only(line({ state, inode: '0' })).isOrphan, true, state);
  assert.equal(only(line({ state: '04' })).isOrphan, false, 'a socket that is still open must not count as an orphan');
  assert.equal(
    only(line({ state: '01', inode: '0' })).isOrphan,
    false,
    'a socket that has not been accepted yet must not count as an orphan',
  );
});

test("in the kernel's socket table, retransmissions and zero-window probes both count as unanswered", () => {
  assert.equal(only(line({ retransmissions: '0000000A' })).unanswered, 10);
  assert.equal(only(line({ probes: '12' })).unanswered, 12);
});

test("lameduck ignores lines of the kernel's socket table that have an unknown format", () => {
  assert.deepEqual(parseSocketTable('', 'LE'), []);
  assert.deepEqual(parseSocketTable(`${head}   0: what else\n`, 'LE'), []);
});
