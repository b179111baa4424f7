// Runs every program with lameduck/register under load, ends it with SIGTERM, and checks its clients, its own cleanup
// and its exit code. For the table, it also runs the programs without lameduck/register.
//
// `.ci/register-programs` runs this file. PROGRAMS is the folder in which the programs and the packed package are
// installed. RESULTS is the file to which the rows of the table are written.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { AdoptedProgram, assertRefusedOnlyAtTheEnd, delay, gracePeriod } from './adopted-program.ts';
import { ask, clientCount, failedOf, openWebSockets, type Target } from './load.ts';
import type { Program } from './program.ts';
import { programs } from './programs.ts';
import { folderOf, lockedPackage, type Measured, type Row } from '../../../scripts/docs/register-table.ts';

const root = process.env['PROGRAMS'] ?? '';
const results = process.env['RESULTS'];
// The variable ONLY selects the programs whose title contains its text, to examine one of the programs.
const only = process.env['ONLY'] ?? '';
const isLong = process.env['LONG'] === 'yes';
const chosen = programs.filter((program) => program.title.includes(only) && (isLong || program.isLong !== true));
const rows = new Map<Program, Row>();

test('lameduck is installed from its packed package, and each test program has the package versions of the lock file', () => {
  assert.ok(root !== '' && existsSync(join(root, 'node_modules', 'lameduck', 'dist', 'register.cjs')), root);
  for (const program of chosen) assert.equal(installedPackage(program), lockedPackage(program), program.title);
});

void describe('programs that never call lameduck() lose no request with lameduck/register', { concurrency: 2 }, () => {
  for (const program of chosen) {
    test(`P-003, P-112 ${program.title}: with lameduck/register no request is lost, and the program's own cleanup runs once`, async (t) => {
      // The run without lameduck/register provides data for the table of docs/register.md. The test leaves this run out
      // if it does not write the table.
      const without = results === undefined ? undefined : await endWithout(t, program);
      const withRegister = await endRegistered(t, program);
      if (without === undefined) return;
      const version = installedPackage(program);
      rows.set(program, {
        title: program.title,
        ...(version === undefined ? {} : { version }),
        handling: program.handling,
        lostWithout: without.lost,
        endWithout: without.end,
        lostWith: withRegister.lost,
        endWith: withRegister.end,
        cleanup: withRegister.cleanup,
      });
    });
  }
});

after(() => {
  const inOrder = chosen.flatMap((program) => rows.get(program) ?? []);
  const measured: Measured = { node: process.version, clients: clientCount, delay, gracePeriod, rows: inOrder };
  if (results !== undefined) writeFileSync(results, JSON.stringify(measured, undefined, 2));
});

interface End {
  readonly lost: number;
  readonly end: string;
}

// Runs the program without lameduck/register. Returns how many requests were lost and how the process ended, for the
// table in docs/register.md. The test passes even if requests were lost.
async function endWithout(t: TestContext, program: Program): Promise<End> {
  const adopted = disposed(t, await AdoptedProgram.start(root, program, false));
  await adopted.serving();
  const load = await adopted.loaded();
  adopted.kill('SIGTERM');
  const end = await adopted.ended();
  const ended = await load.ended(2_000);
  const lost = adopted.lost(ended);
  t.diagnostic(`without: ${String(lost.length)} lost, ${String(failedOf(ended))} failed, ended with ${end}`);
  return { lost: lost.length, end };
}

async function endRegistered(t: TestContext, program: Program): Promise<End & { cleanup: string }> {
  const adopted = disposed(t, await AdoptedProgram.start(root, program, true));
  await adopted.serving();
  await adopted.probed();
  await assertPortsAreApart(adopted, program);
  const sockets = program.hasWebSockets === true ? await openWebSockets(adopted.targets[0] as Target) : [];
  const load = await adopted.loaded();
  const stream = await openStream(adopted.targets[0] as Target, program);
  const answered = load.answered;
  const signaledAt = Date.now();
  adopted.kill('SIGTERM');
  await assertRedWhileItServes(adopted);
  const end = await adopted.ended();
  const endedAt = Date.now();
  const clients = await load.ended(2_000);
  const lost = adopted.lost(clients);
  const { output } = adopted;
  t.diagnostic(`with: ${String(lost.length)} lost, ended with ${end} after ${String(endedAt - signaledAt)} ms`);

  assert.deepEqual(lost, [], output);
  assert.equal(failedOf(clients), 0, output);
  const events = await stream.whole;
  assert.ok(events.endsWith(`${program.stream?.lastEvent ?? ''}\n\n`), events);
  assert.ok(load.answered > answered, 'some requests must be served after the process signal');
  assertRefusedOnlyAtTheEnd(clients, signaledAt, output);
  const closed = sockets.filter(({ readyState }) => readyState === WebSocket.CLOSED);
  assert.equal(closed.length, sockets.length, 'each WebSocket must have ended');
  const ran = program.cleanup.map((line) => ({ line, times: adopted.countOf(line) }));
  const once = program.cleanup.map((line) => ({ line, times: 1 }));
  assert.deepEqual(ran, once, output);
  const drained = output.indexOf('"InFlightRequestsDrained"');
  assert.ok(drained !== -1 && program.cleanup.every((line) => output.indexOf(line) > drained), output);
  assert.equal(end, program.end, output);
  assert.match(output, /"lameduck\/shutdown\/v1","reason":"SIGTERM"/);
  assert.match(output, /"unfinished":\[\],"hookFailures":\[\]/);
  if (program.prints !== undefined) assert.match(output, program.prints);
  return {
    lost: lost.length,
    end,
    cleanup: program.cleanup.length === 0 ? 'the program has no cleanup function' : 'cleanup ran once',
  };
}

// Asserts that only the probe port answers probes, and that the program's own ports respond in the same way as without
// lameduck.
async function assertPortsAreApart(adopted: AdoptedProgram, { ownProbe }: Program): Promise<void> {
  assert.equal((await ask(adopted.probes, '/livez'))?.status, 200, adopted.output);
  for (const target of adopted.targets) assert.equal((await ask(target, '/readyz'))?.status, 404);
  if (ownProbe === undefined) return;
  const answer = await ask(adopted.targets[0] as Target, ownProbe.path);
  assert.ok(answer?.status === 200 && answer.body.includes(ownProbe.body), answer?.body);
}

async function assertRedWhileItServes(adopted: AdoptedProgram): Promise<void> {
  const signaledAt = Date.now();
  for (;;) {
    const answer = await ask(adopted.probes, '/readyz');
    assert.ok(answer !== undefined, `the probe port does not respond:\n${adopted.output}`);
    if (answer.status === 500) break;
    assert.ok(Date.now() - signaledAt < delay / 2, '/readyz must fail in the first half of the delay');
  }
  assert.equal((await ask(adopted.probes, '/livez'))?.status, 200);
  for (const target of adopted.targets) {
    assert.equal(
      (await ask(target, adopted.paths.quick))?.status,
      200,
      'new connections must be served while /readyz fails',
    );
  }
}

/** openStream resolves when an event stream has begun. Its result is the promise of the complete stream. */
async function openStream({ port }: Target, { stream }: Program): Promise<{ readonly whole: Promise<string> }> {
  if (stream === undefined) return { whole: Promise.resolve('\n\n') };
  const response = await fetch(`http://127.0.0.1:${String(port)}${stream.path}`, { method: 'POST' });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  return { whole: response.text() };
}

/** installedPackage returns the name and the installed version of a program's main package. */
function installedPackage(program: Program): string | undefined {
  if (program.package === undefined) return undefined;
  const path = join(root, folderOf(program), 'node_modules', program.package, 'package.json');
  const { name, version } = JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string };
  return `${name} ${version}`;
}
