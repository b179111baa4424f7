// Tests the checkpoint in real processes that are killed, and at invalid paths.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { previousRunOf, type CheckpointRecord } from '../../src/process/checkpoint.ts';
import { podUidIn } from '../../src/process/run-identity.ts';
import { disposed } from '../support/disposed.ts';
import { Exposition } from '../support/exposition.ts';
import { ask } from '../support/measured.ts';
import { until } from '../support/until.ts';
import { LoggingCommand, ProcessUnderTest, type Line } from '../support/process-under-test.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'checkpoint-'));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

function start(t: TestContext, path: string, env: Readonly<Record<string, string>> = {}): ProcessUnderTest {
  const variables = { LAMEDUCK_CHECKPOINT_PATH: path, LAMEDUCK_METRICS_PATH: '/metrics', ...env };
  return disposed(t, new ProcessUnderTest('is-killed-in-a-phase.ts', variables));
}

function recordIn(path: string): CheckpointRecord {
  return JSON.parse(readFileSync(path, 'utf8')) as CheckpointRecord;
}

const isAboutIt = ({ msg = '' }: Line): boolean => /^(previous run|checkpoint)/.test(msg);

/**
 * `said()` waits until a process is ready, and resolves with the messages that the process has logged about its
 * checkpoint.
 */
async function said(process: ProcessUnderTest): Promise<string[]> {
  await process.ready();
  return process.lines.filter(isAboutIt).map(({ msg = '' }) => msg);
}

async function infoOf(process: ProcessUnderTest): Promise<Readonly<Record<string, string>>> {
  const { body } = await ask(await process.port(), '/metrics');
  assert.equal(new Exposition(body).value('lameduck_previous_run_info'), 1);
  const [, outcome = '', phase = ''] =
    /^lameduck_previous_run_info{outcome="(.*?)",phase="(.*?)"} 1$/m.exec(body) ?? [];
  return { outcome, phase };
}

// For each phase, the environment variables that make the lifecycle stay in this phase, so that the test can kill the
// process in this phase.
const phases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Started: {},
  MuxAndDiscoveryComplete: { HANGS: 'post-start' },
  HasBeenReady: {},
  ShutdownInitiated: { HANGS: 'pre-shutdown', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' },
  AfterShutdownDelayDuration: { HANGS: 'pre-shutdown' },
  PreShutdownHooksStopped: { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' },
  NotAcceptingNewRequest: {},
  HTTPServerStoppedListening: {},
  InFlightRequestsDrained: {},
};

describe(
  'K-150 after SIGKILL, the next start of the container logs in which phase the process was',
  { concurrency: 3 },
  () => {
    for (const [phase, env] of Object.entries(phases)) {
      const isReady = !['Started', 'MuxAndDiscoveryComplete'].includes(phase);
      test(`after SIGKILL in the phase ${phase}, the next start logs this phase`, async (t) => {
        const path = join(folder(t), 'checkpoint.json');
        const killed = start(t, path, { PHASE: phase, ...env });
        assert.deepEqual(await killed.exit, { code: null, signal: 'SIGKILL' });
        assert.deepEqual(killed.lines.filter(isAboutIt), []);
        const { startedAt, version, ...record } = recordIn(path);
        assert.deepEqual([record.phase, record.cleanExit], [phase, false]);
        const next = start(t, path);
        await next.ready();
        const [line] = next.lines.filter(isAboutIt);
        assert.equal(line?.msg, isReady ? 'previous run was killed' : 'previous run never became ready');
        assert.deepEqual([line['level'], line['phase'], line['hasNodeRestarted']], [40, phase, false]);
        assert.deepEqual([line['startedAt'], line['version']], [startedAt, version]);
        assert.deepEqual(await infoOf(next), { outcome: isReady ? 'killed' : 'never_ready', phase });
      });
    }
  },
);

test('ShutdownInitiated is written to the checkpoint before it is logged', async (t) => {
  const path = join(folder(t), 'checkpoint.json');
  const process = start(t, path, { PHASE: 'ShutdownInitiated', AT_LINE: '1' });
  assert.deepEqual(await process.exit, { code: null, signal: 'SIGKILL' });
  assert.equal(recordIn(path).phase, 'ShutdownInitiated');
});

// On Linux, `fs.watch()` reports a write to a file as `change`, and the replacement of a file by another file as
// `rename`.
test('a rename replaces the whole checkpoint file', { skip: process.platform !== 'linux' }, async (t) => {
  const path = join(folder(t), 'checkpoint.json');
  const program = start(t, path);
  await program.ready();
  const events: string[] = [];
  watch(dirname(path), { persistent: false }, (event, name) => name === basename(path) && events.push(event));
  program.kill('SIGTERM');
  await program.exit;
  await until(() => events.length >= 6);
  assert.deepEqual(new Set(events), new Set(['rename']));
});

test('the checkpoint has the phase ShutdownInitiated before the shutdown delay is over', async (t) => {
  const path = join(folder(t), 'checkpoint.json');
  const process = start(t, path, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s', HANGS: 'pre-shutdown' });
  await process.ready();
  assert.equal(recordIn(path).phase, 'HasBeenReady');
  process.kill('SIGTERM');
  await process.signaled('ShutdownInitiated');
  assert.equal(recordIn(path).phase, 'ShutdownInitiated');
  process.kill('SIGKILL');
  await process.exit;
  const next = start(t, path);
  assert.deepEqual(await said(next), ['previous run was killed']);
});

test('the first run logs no previous run, and its clean exit leaves a complete checkpoint, which the second run reports', async (t) => {
  const path = join(folder(t), 'checkpoint.json');
  const first = start(t, path);
  assert.deepEqual(await said(first), []);
  assert.deepEqual(await infoOf(first), { outcome: 'none', phase: '' });
  first.kill('SIGTERM');
  await first.exit;
  assert.equal(recordIn(path).cleanExit, true);
  const second = start(t, path, { HANGS: 'pre-shutdown' });
  assert.deepEqual(await said(second), ['previous run ended cleanly']);
  assert.deepEqual(await infoOf(second), { outcome: 'clean', phase: 'Exited' });
  second.kill('SIGTERM');
  await second.killAgain('SIGTERM');
  assert.deepEqual(await second.exit, { code: 1, signal: null });
  assert.deepEqual(await said(start(t, path)), ['previous run failed']);
  const failing = disposed(t, new ProcessUnderTest('throws.ts', { LAMEDUCK_CHECKPOINT_PATH: `${path}2` }));
  await failing.ready();
  failing.kill('SIGUSR2');
  assert.deepEqual(await failing.exit, { code: 82, signal: null });
  assert.deepEqual([recordIn(`${path}2`).phase, recordIn(`${path}2`).cleanExit], ['Exited', false]);
  assert.deepEqual(await said(start(t, `${path}2`)), ['previous run failed']);
});

describe('a file that is not a checkpoint of this pod causes one log line, and is replaced', { concurrency: 3 }, () => {
  const whole = { bootId: null, startedAt: '2026-01-01T00:00:00.000Z', version: '1.0.0', podUid: null };
  const text = JSON.stringify({ ...whole, phase: 'ShutdownInitiated', cleanExit: false });
  const files: Readonly<Record<string, string>> = {
    empty: '',
    incomplete: text.slice(0, -20),
    'not JSON': '127.0.0.1 localhost\n',
    'a JSON array': '[1]',
    'the JSON value null': 'null',
    'a record with an unknown phase': text.replace('ShutdownInitiated', 'Shutdown'),
    'a record with cleanExit as a string': text.replace('false', '"false"'),
    'too large': ' '.repeat(5_000) + text,
  };
  for (const [name, content] of Object.entries(files)) {
    test(`an invalid checkpoint file, here ${name}, causes one log line, and the checkpoint of the new process replaces the file`, async (t) => {
      const path = join(folder(t), 'checkpoint.json');
      writeFileSync(path, content);
      const process = start(t, path);
      assert.deepEqual(await said(process), ['previous run unknown']);
      assert.deepEqual(await infoOf(process), { outcome: 'unknown', phase: '' });
      assert.equal(recordIn(path).phase, 'HasBeenReady');
    });
  }

  test('a read-only checkpoint file is replaced, even beside an incomplete temporary file of a killed run', async (t) => {
    const path = join(folder(t), 'checkpoint.json');
    writeFileSync(path, text, { mode: 0o400 });
    writeFileSync(`${path}.tmp`, text.slice(0, 10), { mode: 0o400 });
    const process = start(t, path);
    assert.deepEqual(await said(process), ['previous run was killed']);
    assert.equal(recordIn(path).phase, 'HasBeenReady');
  });
});

/**
 * `obstructed()` checks that a process that cannot write its checkpoint still serves requests, exits with 0, and logs
 * exactly one line about the checkpoint. `obstructed()` resolves with this line.
 */
async function obstructed(process: ProcessUnderTest | LoggingCommand): Promise<Line> {
  const { port } = await process.line('listening', ({ msg }) => msg === 'listening');
  await process.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  assert.equal((await ask(port as number, '/')).body, 'served\n');
  process.kill('SIGTERM');
  assert.deepEqual(await process.exit, { code: 0, signal: null });
  assert.equal(process.stderr, '');
  const [line, ...others] = process.lines.filter(isAboutIt);
  assert.deepEqual([line?.msg, line?.['level'], others], ['checkpoint failed', 40, []]);
  return line as Line;
}

describe(
  'an invalid checkpoint path causes one log line, and hinders neither the start nor the end of the process',
  { concurrency: 3 },
  () => {
    const obstacles: Readonly<Record<string, readonly [prepare: (path: string) => void, reason: RegExp]>> = {
      'a folder': [(path) => mkdirSync(path), /not a regular file/],
      'a link to a file': [(path) => symlinkSync('/etc/hosts', path), /not a regular file/],
      'a link to nothing': [(path) => symlinkSync('/nowhere', path), /not a regular file/],
      'a pipe': [(path) => execFileSync('mkfifo', [path]), /not a regular file/],
      'a file in place of the folder': [
        (path) => {
          rmSync(join(path, '..'), { recursive: true });
          writeFileSync(join(path, '..'), '');
        },
        /ENOTDIR/,
      ],
      'a missing folder': [(path) => rmSync(join(path, '..'), { recursive: true }), /ENOENT/],
    };
    for (const [name, [prepare, reason]] of Object.entries(obstacles)) {
      test(`an obstacle such as ${name} at the checkpoint path causes one log line, and the process starts and ends as usual`, async (t) => {
        const path = join(folder(t), 'below', 'checkpoint.json');
        mkdirSync(join(path, '..'));
        prepare(path);
        const { err, checkpointPath } = await obstructed(start(t, path));
        assert.match((err as Error).message, reason);
        assert.equal(checkpointPath, path);
        assert.notEqual(existsSync('/etc/hosts') && readFileSync('/etc/hosts', 'utf8'), '');
      });
    }

    const fixture = join(import.meta.dirname, '..', 'fixtures', 'is-killed-in-a-phase.ts');
    const mounts: Readonly<Record<string, readonly [options: string, reason: RegExp]>> = {
      'a full disk': ['size=4k', /ENOSPC/],
      'a read-only file system': ['size=64k', /EROFS/],
    };
    for (const [name, [options, reason]] of Object.entries(mounts)) {
      test(
        `if the checkpoint path is on ${name}, lameduck logs one line, and the process starts and ends as usual`,
        { skip: cannotMount() },
        async (t) => {
          const at = folder(t);
          const fill = name === 'a full disk' ? `head -c 4096 /dev/zero > ${at}/fill` : `mount -o remount,ro ${at}`;
          const script = `mount -t tmpfs -o ${options} tmpfs ${at} && ${fill} && exec "$@"`;
          const args = ['--mount', 'sh', '-c', script, 'sh', process.execPath, fixture];
          const env = { LAMEDUCK_CHECKPOINT_PATH: join(at, 'checkpoint.json') };
          const { err } = await obstructed(disposed(t, new LoggingCommand('unshare', args, { env })));
          assert.match((err as Error).message, reason);
        },
      );
    }
  },
);

function cannotMount(): string | false {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'unshare --mount is not permitted here';
  }
}

test('if one process has two lifecycles, only the first writes the checkpoint, and the second logs that it writes none', async (t) => {
  const path = join(folder(t), 'checkpoint.json');
  const process = disposed(t, new ProcessUnderTest('has-two-lifecycles.ts', { LAMEDUCK_CHECKPOINT_PATH: path }));
  await process.ready();
  const { err } = await process.line('the second', isAboutIt);
  assert.match((err as Error).message, /another lifecycle of this process/);
  process.kill('SIGTERM');
  await process.exit;
  assert.equal(recordIn(path).cleanExit, true);
});

test('the workers of node:cluster write no checkpoint, because all workers would write to the same file', async (t) => {
  const path = join(folder(t), 'checkpoint.json');
  const env = { LAMEDUCK_CHECKPOINT_PATH: path, OWN_PORTS: 'off off' };
  const process = disposed(t, new ProcessUnderTest('runs-a-cluster.ts', env));
  const { err } = await process.line('the first', isAboutIt);
  assert.match((err as Error).message, /node:cluster/);
  assert.ok(!existsSync(path));
});

test('if a lifecycle ends while its process continues, the checkpoint file records a clean exit, and its folder contains no other file', async (t) => {
  const at = folder(t);
  const path = join(at, 'checkpoint.json');
  const process = disposed(t, new ProcessUnderTest('shuts-itself-down.ts', { LAMEDUCK_CHECKPOINT_PATH: path }));
  await process.ready();
  process.child.stdin?.end();
  await process.line('its end', ({ msg }) => msg === 'shut down');
  assert.equal(recordIn(path).cleanExit, true);
  assert.deepEqual(readdirSync(at), ['checkpoint.json']);
});

const record: CheckpointRecord = {
  bootId: 'a',
  startedAt: '2026-01-01T00:00:00.000Z',
  version: '1.0.0',
  podUid: 'one',
  phase: 'HasBeenReady',
  cleanExit: false,
};

test('the node counts as restarted since the previous run only if the boot ids of the previous run and of this run are both known and differ', () => {
  assert.equal(previousRunOf(record, record).hasNodeRestarted, false);
  assert.equal(previousRunOf(record, { ...record, bootId: 'b' }).hasNodeRestarted, true);
  assert.equal(previousRunOf({ ...record, bootId: null }, record).hasNodeRestarted, false);
});

test('a checkpoint of another pod, which may still run, is not reported as the previous run', () => {
  assert.throws(() => previousRunOf(record, { ...record, podUid: 'two' }), /belongs to the pod one/);
  assert.equal(previousRunOf(record, { ...record, podUid: null }).outcome, 'killed');
});

test("lameduck reads the UID of the pod from the paths of the kubelet's folders in the table of mounted file systems", () => {
  const uid = '5d1a9b34-8a4e-4c1b-9b0e-0e6e0f6f8a11';
  const line = (root: string, at: string): string => `711 690 8:1 ${root} ${at} rw,relatime - ext4 /dev/sda1 rw\n`;
  const other = line('/', '/') + line('/resolv.conf', '/etc/resolv.conf');
  assert.equal(podUidIn(other + line(`/var/lib/kubelet/pods/${uid}/etc-hosts`, '/etc/hosts')), uid);
  assert.equal(podUidIn(line(`/pods/${uid}/containers/server/0a1b2c`, '/dev/termination-log') + other), uid);
  const hash = '0123456789abcdef0123456789abcdef';
  assert.equal(podUidIn(line(`/var/lib/kubelet/pods/${hash}/etc-hosts`, '/etc/hosts')), hash);
  assert.equal(podUidIn(other), null);
  // Outside of any container, the table of mounted file systems of a node has one line for each volume of every pod.
  // For the line of a volume, podUidIn() returns null.
  assert.equal(podUidIn(line(`/pods/${uid}/volumes/a`, `/var/lib/kubelet/pods/${uid}/volumes/b`)), null);
});
