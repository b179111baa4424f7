// Runs each old program of docs/migrate.md, and its successor under load. `.ci/register-programs` runs it: PROGRAMS is the
// folder in which the packages are installed.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage } from '../support/markdown.ts';
import { AdoptedProgram, assertRefusedOnlyAtTheEnd } from './adopted-program.ts';
import { failedOf } from './load.ts';

const root = process.env['PROGRAMS'] ?? '';

// The stub of the module that the programs import and the reader has to write.
const stub = `
  export const app = (request, response) => {
    if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
    else response.end('hello');
  };
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

test('docs/migrate.md has a program before and after for each package', () => {
  assert.deepEqual(
    sections.map(({ programs }) => programs.length),
    [0, ...migrations.map(() => 2)],
  );
});

void describe('the programs of docs/migrate.md', { concurrency: 4 }, () => {
  for (const { title } of migrations) {
    test(`${title}: the old program closes its pool when it ends`, async (t) => {
      const startable = { folder: folderOf(title, 0), args: ['main.js'] };
      const program = disposed(t, await AdoptedProgram.start(root, startable, false));
      await program.serving();
      program.kill('SIGTERM');
      assert.notEqual(await program.ended(), 'killed', program.output);
      assert.equal(program.countOf('pool closed'), 1, program.output);
    });

    test(`${title}: its successor loses nothing, closes its pool and exits with 0`, async (t) => {
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

function folderOf(title: string, index: number): string {
  return join('migrate', title, index === 0 ? 'before' : 'after');
}
