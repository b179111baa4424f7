// Runs each program of docs/migrate.md in two versions. The version before the migration must only close its pool. The
// version after the migration must also lose no request under load. `.ci/register-programs` runs this file. PROGRAMS is
// the folder in which the packages are installed.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { disposed } from '../../support/disposed.ts';
import { blocksIn, readPage } from '../../support/markdown.ts';
import { AdoptedProgram, assertRefusedOnlyAtTheEnd } from './adopted-program.ts';
import { failedOf } from './load.ts';

const root = process.env['PROGRAMS'] ?? '';

// The module `app.js` that the programs in docs/migrate.md import. Readers of docs/migrate.md write their own `app.js`.
const stub = `
  export const app = (request, response) => {
    if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
    else response.end('hello');
  };
  export const routes = app;
  export const pool = {
    check: async () => {},
    end: async () => console.log('pool closed'),
  };
  export const registry = { deregister: async () => {} };
`;

const sections = readPage('docs/migrate.md')
  .split(/^## /m)
  .slice(1)
  .map((text) => ({
    title: text.slice(0, text.indexOf('\n')),
    programs: blocksIn(text).filter(({ language }) => language === 'js'),
    manifests: blocksIn(text).flatMap(({ language, text: block }) => (language === 'yaml' ? [block] : [])),
  }));
const migrations = sections.filter(({ programs }) => programs.length > 0);

for (const { title, programs } of migrations) {
  for (const [index, program] of programs.entries()) {
    const folder = join(root, folderOf(title, index));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'app.js'), stub);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    cpSync(join(root, 'examples', 'nest-express', 'dist', 'app.module.js'), join(folder, 'app.module.js'));
    writeFileSync(join(folder, 'main.js'), program.text.replace('8080', 'Number(process.env.PORT)'));
  }
}

test('docs/migrate.md shows a program before and after the migration for each package', () => {
  assert.deepEqual(
    sections.map(({ title, programs }) => [title, programs.length]),
    sections.map(({ title }) => [title, title === 'A preStop sleep' ? 0 : 2]),
  );
});

void describe('each program in docs/migrate.md loses no request after its migration', { concurrency: 4 }, () => {
  for (const { title } of migrations) {
    test(`${title} in docs/migrate.md: the program before the migration closes its pool when it ends`, async (t) => {
      const startable = { folder: folderOf(title, 0), args: ['main.js'] };
      const program = disposed(t, await AdoptedProgram.start(root, startable, false));
      await program.serving();
      program.kill('SIGTERM');
      assert.notEqual(await program.ended(), 'killed', program.output);
      assert.equal(program.countOf('pool closed'), 1, program.output);
    });

    test(`${title} in docs/migrate.md: the migrated program loses no request, closes its pool and exits with 0`, async (t) => {
      const startable = { folder: folderOf(title, 1), args: ['main.js'] };
      const program = disposed(t, await AdoptedProgram.start(root, startable, false));
      await program.serving();
      await program.probed();
      const load = await program.loaded();
      const signaledAt = Date.now();
      program.kill('SIGTERM');
      assert.equal(await program.ended(), '0', program.output);
      const clients = await load.ended(2_000);
      assert.deepEqual(program.lost(clients), [], program.output);
      assert.equal(failedOf(clients), 0, program.output);
      assertRefusedOnlyAtTheEnd(clients, signaledAt, program.output);
      assert.equal(program.countOf('pool closed'), 1, program.output);
    });
  }
});

// The test rehearses both manifests of the section "A preStop sleep" of docs/migrate.md. This section has no programs,
// so the test uses the programs of another section. To save time, the test shortens the 15 s of the manifests to 5 s.
// The simulated nodes send new connections to a deleted pod for only 2.3 s, so 5 s are enough.
test('docs/migrate.md, section "A preStop sleep": a pod that uses the shutdown delay instead of the preStop sleep loses no request', async (t) => {
  const section = sections.find(({ title }) => title === 'A preStop sleep');
  const [before = '', after = ''] = section?.manifests ?? [];
  const withSleep = await rehearsed(t, before, 0);
  assert.match(withSleep, /preStop of app ended/);
  const withDelay = await rehearsed(t, after, 1);
  assert.doesNotMatch(withDelay, /preStop of app/);
  assert.match(withDelay, /\(\d+ requests, 0 lost, 0 refused, exit code 0 after /);
});

async function rehearsed(t: TestContext, spec: string, index: 0 | 1): Promise<string> {
  const folder = join(root, folderOf('A listener of SIGTERM', index));
  const shortened = spec.replaceAll('15', '5').replaceAll('45', '15');
  writeFileSync(join(folder, 'pod.yaml'), `apiVersion: v1\nkind: Pod\nmetadata: { name: app }\n${shortened}`);
  const command = join(root, 'node_modules', '.bin', 'lameduck');
  const args = ['rehearse', '--manifest', 'pod.yaml', '--', process.execPath, 'main.js'];
  const rehearsal = disposed(t, new CommandUnderTest(command, args, { cwd: folder, env: { PORT: '0' } }));
  await rehearsal.exit;
  return rehearsal.output;
}

function folderOf(title: string, index: number): string {
  return join('migrate', title, index === 0 ? 'before' : 'after');
}
