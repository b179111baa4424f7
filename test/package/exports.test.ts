// Tests the exports of the built package. Each export must be in the build's list and in package.json, and a process
// must never have two instances of an export.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { entries, main, preload } from '../../scripts/build/entries.ts';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { root } from '../support/markdown.ts';

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly typesVersions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

function exportOf(name: string): string {
  return name === 'index' ? '.' : `./${name}`;
}

function specifierOf(name: string): string {
  return name === 'index' ? 'lameduck' : `lameduck/${name}`;
}

async function outputOf(t: TestContext, args: readonly string[]): Promise<string> {
  // In this repository, `import 'lameduck'` loads the package itself, through its own `exports`.
  const command = disposed(t, new CommandUnderTest(process.execPath, args, { cwd: root }));
  assert.deepEqual(await command.exit, { code: 0, signal: null }, command.output);
  return command.output;
}

test('package.json has the conditions `module`, `import` and `require` for each built export', () => {
  const register = { types: './dist/types/register.d.cts', default: './dist/register.cjs' };
  const conditions = entries.map(({ name }) => {
    const types = `./dist/types/${name}`;
    const module = { types: `${types}.d.mts`, default: `./dist/bundler/${name}.mjs` };
    const forImport = { types: `${types}.d.mts`, default: `./dist/${name}.mjs` };
    const forRequire = { types: `${types}.d.cts`, default: `./dist/${name}.cjs` };
    return [exportOf(name), { module, import: forImport, require: forRequire }] as const;
  });
  const others = { './register': register, './package.json': './package.json' };
  assert.deepEqual(manifest.exports, { ...Object.fromEntries(conditions), ...others });
});

test('a compiler that does not read `exports` finds the declarations of each export', () => {
  const names = [...entries.map(({ name }) => name).filter((name) => name !== 'index'), 'register'];
  const paths = Object.fromEntries(names.map((name) => [name, [`./dist/types/${name}.d.cts`]]));
  assert.deepEqual(manifest.typesVersions, { '*': paths });
});

void describe('import and require() of each entry point of the package return the same values', () => {
  for (const { name, default: ownDefault } of entries) {
    test(`import and require() of ${specifierOf(name)} return the same values`, async (t) => {
      const specifier = JSON.stringify(specifierOf(name));
      const code = `
        import * as imported from ${specifier};
        import { createRequire } from 'node:module';
        const required = createRequire(import.meta.url)(${specifier});
        const names = Object.keys(required).sort();
        const isSame = names.every((name) => imported[name] === required[name]);
        const unknown = Object.keys(imported).filter((name) => !names.includes(name));
        console.log(JSON.stringify({ names, isSame, unknown, isDefault: imported.default === imported[${JSON.stringify(ownDefault)}] }));`;
      const outcome = JSON.parse(await outputOf(t, ['--input-type=module', '--eval', code])) as Record<string, unknown>;
      const { names, ...rest } = outcome;
      assert.ok((names as string[]).length > 0);
      assert.deepEqual(rest, { isSame: true, unknown: [], isDefault: true });
    });
  }

  test('the exports of the package share their error classes and lifecycles with the main export', async (t) => {
    const code = `
      const { createServer } = require('node:http');
      const { isLameduckError, lameduck, LameduckError } = require('lameduck');
      const { grpcHealth } = require('lameduck/grpc');
      const duck = lameduck(createServer());
      const codes = [];
      try { grpcHealth(duck, { unknown: 1 }); } catch (error) { codes.push(error instanceof LameduckError && error.code); }
      // listen() resolves with a port greater than 0 only if lameduck/grpc has found the lifecycle.
      grpcHealth(duck).listen('127.0.0.1:0').then((port) => {
        console.log(JSON.stringify([...codes, port > 0]));
        process.exit();
      });`;
    assert.equal(await outputOf(t, ['--eval', code]), '["LAMEDUCK_ERR_OPTIONS_INVALID",true]\n');
  });
});

test('an enumerable property of Object.prototype does not prevent the import of the package', async (t) => {
  for (const { name } of entries) {
    const code = `
      Object.prototype.added = 'by the program';
      const exported = require(${JSON.stringify(specifierOf(name))});
      console.log(Object.hasOwn(exported, 'added'));`;
    assert.equal(await outputOf(t, ['--eval', code]), 'false\n');
  }
});

test('each module of src is in at most one built file, so that the variables of the module exist only once in a process', () => {
  const files = readdirSync(join(root, 'dist')).filter((file) => file.endsWith('.cjs'));
  // In a built file, each bundled module begins with a comment that contains its path.
  const modules = files.flatMap((file) => {
    const paths = readFileSync(join(root, 'dist', file), 'utf8').matchAll(/^\/\/ (src\/.*)$/gm);
    return [...new Set([...paths].map(([, path = '']) => path))];
  });
  assert.deepEqual([...new Set(modules)].sort(), modules.sort());
});

test('the built files have only ASCII characters, so that V8 needs only one byte of memory per character', () => {
  for (const file of readdirSync(join(root, 'dist')).filter((name) => name.endsWith('.cjs'))) {
    const [, found] = /(.*[\u0080-\uffff].*)/.exec(readFileSync(join(root, 'dist', file), 'utf8')) ?? [];
    assert.equal(found, undefined, `${file}: ${found ?? ''}`);
  }
});

test('require() of the package loads only two files: the main file, and the file that the main file shares with lameduck/register', () => {
  const require = createRequire(import.meta.url);
  assert.equal(typeof (require('lameduck') as Record<string, unknown>)['lameduck'], 'function');
  const loaded = Object.keys(require.cache).filter(
    (file) => file.startsWith(join(root, 'dist')) || !file.includes(root),
  );
  const files = [main, preload].map((name) => join(root, 'dist', `${basename(name)}.cjs`));
  assert.deepEqual(loaded.sort(), files.sort());
  assert.ok(!Object.keys(require.cache).some((file) => file.includes('node_modules')));
});
