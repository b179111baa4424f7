// Runs `lameduck rehearse` as a user does, on servers that lose requests and on one that loses none.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Result } from '../../../src/cli/rehearsal/result.ts';
import { scenarios } from '../../../src/cli/rehearsal/scenarios.ts';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { disposed } from '../../support/disposed.ts';
import { lameduck, main } from '../../support/lameduck-command.ts';
import { nodeProgram, whyNoNamespace } from '../../support/pod-under-test.ts';
import { until } from '../../support/until.ts';

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  t.after(() => {
    rmSync(made, { recursive: true });
  });
  return made;
}

/** Returns true if a process is running whose command line contains `argument`. */
function isRunning(argument: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(argument);
    } catch {
      return false;
    }
  });
}

async function rehearse(
  t: TestContext,
  args: readonly string[],
  command: readonly string[],
): Promise<{ code: number | null; output: string; result: Result }> {
  const json = join(folder(t), 'result.json');
  const ended = await lameduck(t, ['rehearse', '--json', json, '--propagation', '1s', ...args, '--', ...command]);
  return { ...ended, result: JSON.parse(readFileSync(json, 'utf8')) as Result };
}

const serving = (onSigterm: string): readonly string[] =>
  nodeProgram(`
    import { createServer } from 'node:http';
    const server = createServer((_, response) => setTimeout(() => response.end('ok'), 10)).listen(0);
    ${onSigterm}
  `);

void describe('`lameduck rehearse`', { concurrency: 3 }, () => {
  it('`lameduck rehearse` finds the requests that server.close() on SIGTERM loses', async (t) => {
    const command = serving(`process.on('SIGTERM', () => server.close(() => process.exit()));`);
    const { code, result, output } = await rehearse(t, ['--grace-period', '8'], command);
    assert.deepEqual([code, result.schema, result.verdict], [1, 'lameduck/rehearsal/v1', 'lost'], output);
    const names = result.scenarios[0]?.causes.map(({ name }) => name) ?? [];
    assert.ok(names.includes('listenerClosedTooEarly'), names.join());
    assert.ok(result.refused > 0);
  });

  it(
    'K-100 `lameduck rehearse` finds that a server without a signal handler ignores SIGTERM as PID 1',
    { skip: whyNoNamespace },
    async (t) => {
      const { code, result, output } = await rehearse(t, ['--grace-period', '4'], serving(''));
      const [rollout] = result.scenarios;
      assert.deepEqual([code, rollout?.causes[0]?.name, rollout?.exit?.code], [1, 'stopSignalIgnored', 137], output);
    },
  );

  it('K-185 `lameduck rehearse` finds no lost request of a server with lameduck, and writes a report without external links', async (t) => {
    const report = join(folder(t), 'report.html');
    const fixture = join(import.meta.dirname, '..', '..', 'fixtures', 'rehearsed.ts');
    const { code, result, output } = await rehearse(t, ['--report', report], [process.execPath, fixture]);
    assert.deepEqual([result.lost, result.refused], [0, 0], output);
    // If the machine is too busy for exact timing, the rehearsal withholds its verdict, and its output says that the
    // machine was too busy.
    const isBusy = output.includes('too busy for exact timing');
    assert.deepEqual([code, result.verdict], isBusy ? [3, 'withheld'] : [0, 'clean'], output);
    assert.ok(result.requests > 200, String(result.requests));
    assert.equal(result.scenarios[0]?.exit?.code, 0);
    const page = readFileSync(report, 'utf8');
    assert.match(page, /<svg[^>]*aria-label="Timeline of the scenario">/);
    assert.doesNotMatch(page, /(src|href)=/);
  });

  it('`lameduck rehearse` reports at once a command that cannot be started', async (t) => {
    const { code, output } = await lameduck(t, ['rehearse', '--', 'no-such-command']);
    assert.equal(code, 1, output);
    assert.match(output, /exited with code 127: .*no-such-command/);
    assert.match(output, /cause: {2}the command cannot be started/);
  });

  it('`lameduck rehearse` runs the containers of a manifest, and reports an invalid manifest before it starts a container', async (t) => {
    const manifest = join(folder(t), 'pod.yaml');
    writeFileSync(manifest, 'kind: ConfigMap\n');
    const { code, output } = await lameduck(t, ['rehearse', '--manifest', manifest, '--', 'node']);
    assert.equal(code, 2);
    assert.match(output, /pod\.yaml has no pod/);
    assert.match(output, /--help shows examples/);
  });

  it('`lameduck rehearse` leaves no process behind when it is killed', { skip: whyNoNamespace }, async (t) => {
    const mark = randomUUID();
    const args = [main, 'rehearse', '--', ...serving(''), mark];
    const command = disposed(t, new CommandUnderTest(process.execPath, args));
    await command.printed(/listening on port/);
    assert.ok(isRunning(mark));
    command.kill('SIGKILL');
    await command.exit;
    await until(() => !isRunning(mark));
  });

  it('`lameduck rehearse` ends all processes at Ctrl-C, and still writes its report', async (t) => {
    const mark = randomUUID();
    const args = [main, 'rehearse', '--all', '--', ...serving(''), mark];
    const command = disposed(t, new CommandUnderTest(process.execPath, args));
    await command.printed(/the pod is ready/);
    assert.ok(isRunning(mark));
    command.kill('SIGINT');
    const { code } = await command.exit;
    assert.equal(code, 3, command.output);
    assert.match(command.output, /^rollout: withheld: the rehearsal was interrupted \(/m);
    assert.match(command.output, /^scenarios not run because of the interruption: 10$/m);
    assert.ok(!isRunning(mark));
  });

  it(
    'a second Ctrl-C ends `lameduck rehearse` at once and leaves no process behind',
    { skip: whyNoNamespace },
    async (t) => {
      const mark = randomUUID();
      const received = join(folder(t), 'received');
      // The server never responds. So after the first Ctrl-C, the rehearsal still waits until the requests in flight
      // have ended.
      const silent = nodeProgram(`
      import { writeFileSync } from 'node:fs';
      import { createServer } from 'node:http';
      createServer(() => writeFileSync(${JSON.stringify(received)}, '')).listen(0);
    `);
      const args = [main, 'rehearse', '--', ...silent, mark];
      const command = disposed(t, new CommandUnderTest(process.execPath, args));
      await until(() => existsSync(received));
      command.kill('SIGINT');
      await command.printed(/the rehearsal was interrupted/);
      command.kill('SIGINT');
      assert.deepEqual(await command.exit, { code: null, signal: 'SIGINT' }, command.output);
      await until(() => !isRunning(mark));
    },
  );

  it('a second Ctrl-C also ends the rehearsed command if the system has no PID namespaces', async (t) => {
    const mark = randomUUID();
    const received = join(folder(t), 'received');
    const silent = nodeProgram(`
      import { writeFileSync } from 'node:fs';
      import { createServer } from 'node:http';
      process.on('SIGTERM', () => undefined);
      createServer(() => writeFileSync(${JSON.stringify(received)}, '')).listen(0);
    `);
    const args = [main, 'rehearse', '--', ...silent, mark];
    // The PATH of this test does not contain the program `unshare`, so the rehearsal cannot create a PID namespace.
    const command = disposed(t, new CommandUnderTest(process.execPath, args, { env: { PATH: folder(t) } }));
    await until(() => existsSync(received));
    command.kill('SIGINT');
    await command.printed(/the rehearsal was interrupted/);
    assert.ok(isRunning(mark));
    command.kill('SIGINT');
    assert.deepEqual(await command.exit, { code: null, signal: 'SIGINT' }, command.output);
    await until(() => !isRunning(mark));
  });

  const skip = existsSync('/dev/full') ? false : 'there is no /dev/full';
  it(
    '`lameduck rehearse` still writes one of its two report files if it cannot write the other',
    { skip },
    async (t) => {
      const report = join(folder(t), 'report.html');
      const args = ['rehearse', '--json', '/dev/full', '--report', report, '--', 'no-such-command'];
      const { code, output } = await lameduck(t, args);
      assert.equal(code, 2, output);
      assert.match(output, /^lameduck rehearse: unable to write \/dev\/full: ENOSPC/m);
      assert.match(readFileSync(report, 'utf8'), /<h1 class="lost">/);
    },
  );

  it('`lameduck rehearse` does not wait for the grace period at Ctrl-C', async (t) => {
    const mark = randomUUID();
    const manifest = join(folder(t), 'pod.json');
    const lifecycle = { preStop: { sleep: { seconds: 3_600 } } };
    const spec = { terminationGracePeriodSeconds: 7_200, containers: [{ name: 'app', lifecycle }] };
    writeFileSync(manifest, JSON.stringify({ kind: 'Pod', spec }));
    const args = [main, 'rehearse', '--manifest', manifest, '--', ...serving(''), mark];
    const command = disposed(t, new CommandUnderTest(process.execPath, args));
    await command.printed(/preStop of app started/);
    command.kill('SIGINT');
    assert.equal((await command.exit).code, 3, command.output);
    assert.ok(!isRunning(mark));
  });

  it('`lameduck rehearse` ends at once and without an error if the reader of its output closes the pipe', async (t) => {
    const mark = randomUUID();
    const args = [main, 'rehearse', '--', ...serving(''), mark];
    const command = disposed(t, new CommandUnderTest(process.execPath, args));
    await command.printed(/container app started/);
    command.child.stdout?.destroy();
    const { code } = await command.exit;
    assert.equal(code, 3, command.output);
    assert.doesNotMatch(command.output, /EPIPE/);
    assert.ok(!isRunning(mark));
  });

  it('lameduck rehearse --all prints one table, in which the row of each scenario has its numbers of sent, lost and refused requests', async (t) => {
    // The rehearsed command `/absent` does not exist, so that each scenario of this test ends at once.
    const { code, output, result } = await rehearse(t, ['--all', '--propagation', '1s,1500ms'], ['/absent']);
    assert.equal(code, 1, output);
    const lines = output.split('\n');
    const head = lines.findIndex((line) => line.startsWith('scenario'));
    const rows = lines.slice(head).map((line) => line.trim().split(/ {2,}/));
    assert.deepEqual(rows[0], ['scenario', 'propagation', 'requests', 'lost', 'refused', 'verdict']);
    assert.deepEqual(
      rows.slice(1, 1 + result.scenarios.length),
      result.scenarios.map(({ name, propagationMs, requests, lost, refused, verdict }) => [
        name,
        `${String(propagationMs / 1_000)} s`,
        ...[requests, lost, refused].map(String),
        verdict,
      ]),
    );
    assert.deepEqual(
      result.scenarios.map(({ name, propagationMs }) => [name, propagationMs]),
      Object.keys(scenarios).flatMap((name) => [
        [name, 1_000],
        [name, 1_500],
      ]),
    );
    assert.match(rows[1 + result.scenarios.length]?.[0] ?? '', /^to repeat this rehearsal with the same random values/);
  });
});
