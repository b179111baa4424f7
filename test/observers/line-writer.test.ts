import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly time: number;
  readonly pid: number;
  readonly hostname: string;
  readonly err?: Readonly<Record<string, unknown>>;
}

const fixture = fileURLToPath(new URL('../fixtures/logs-lines.ts', import.meta.url));

function linesOf(how: string): Line[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, [fixture, how], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const lines = stdout.trimEnd().split('\n');
  return lines.map((text) => JSON.parse(text) as Line);
}

// Without what differs from run to run.
function comparable(lines: readonly Line[]): unknown[] {
  return lines.map(({ time, pid, ...line }) => {
    assert.ok(Math.abs(time - Date.now()) < 60_000, 'the time is not that of the day in milliseconds');
    assert.ok(pid > 0);
    assert.equal(line.hostname, hostname());
    return line;
  });
}

const isWithCause = ({ msg }: Line): boolean => msg === 'with its cause';
const withoutCause = (lines: readonly Line[]): Line[] => lines.filter((line) => !isWithCause(line));

const byPino = linesOf('pino');

test('pino itself writes six lines for what the fixture logs', () => {
  assert.equal(byPino.length, 6);
});

test('lines are kept until pino is loaded, and written in their order and in its form before those that it writes', () => {
  assert.deepEqual(comparable(withoutCause(linesOf('loads'))), comparable(withoutCause(byPino)));
});

test('P-060 lines are written in pino’s form, and none is lost, when the process ends before pino is loaded', () => {
  const lines = linesOf('never');
  assert.equal(lines.length, byPino.length);
  assert.deepEqual(comparable(withoutCause(lines)), comparable(withoutCause(byPino)));
});

test('P-060 when pino cannot be loaded that is said, and every line is written all the same, in order', () => {
  const lines = linesOf('cannot');
  const complaint = lines.find(({ err }) => err?.['message'] === 'not installed');
  assert.equal(complaint?.msg, 'pino cannot be loaded: the log goes on without it');
  const others = lines.filter((line) => line !== complaint);
  assert.deepEqual(comparable(withoutCause(others)), comparable(withoutCause(byPino)));
});

test('the cause of an error is written as pino writes it', () => {
  const [written] = linesOf('never').filter(isWithCause);
  const [expected] = byPino.filter(isWithCause);
  assert.equal(written?.err?.['message'], expected?.err?.['message']);
  assert.match(String(written?.err?.['stack']), /caused by: TypeError: refused/);
});
