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

// Checks the fields `time`, `pid` and `hostname` of each log line. Removes `time` and `pid`, because they differ from
// run to run.
function comparable(lines: readonly Line[]): unknown[] {
  return lines.map(({ time, pid, ...line }) => {
    assert.ok(Math.abs(time - Date.now()) < 60_000, 'the time must be milliseconds since 1970');
    assert.ok(pid > 0);
    assert.equal(line.hostname, hostname());
    return line;
  });
}

const isWithCause = ({ msg }: Line): boolean => msg === 'with its cause';
const withoutCause = (lines: readonly Line[]): Line[] => lines.filter((line) => !isWithCause(line));

const byPino = linesOf('pino');
const written = linesOf('lameduck');

test("pino writes four log lines, with which the other tests of this file compare lameduck's lines", () => {
  assert.equal(byPino.length, 4);
});

test("P-060 each log line has been written when the call of the logger returns, in pino's format", () => {
  assert.equal(written.length, byPino.length);
  assert.deepEqual(comparable(withoutCause(written)), comparable(withoutCause(byPino)));
});

test("the cause of an error is written in pino's format", () => {
  const [ours] = written.filter(isWithCause);
  const [expected] = byPino.filter(isWithCause);
  assert.equal(ours?.err?.['message'], expected?.err?.['message']);
  assert.match(String(ours?.err?.['stack']), /caused by: TypeError: refused/);
});
