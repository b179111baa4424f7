// Builds the CommonJS files that Node loads, and the thin modules through which `import` gets the same instance.
//
// Each module of `src` is in one file only, so that its state exists once in a process. A module that several files
// need is in the main file or in a piece of it. The other files take such a module from the property `modules` of that
// file, which is not enumerable.
import { join, relative } from 'node:path';
import { build, type Metafile, type Plugin, type StdinOptions } from 'esbuild';
import { besidePreload, entries, internal, pieces, preload, preloaded, type Entry } from './entries.ts';
import { common, inlined, root, sourceOf } from './sources.ts';

type Inputs = Metafile['inputs'];

const main = 'index';

/** commonJs builds all exports. `metafile` lists the modules that each of them needs. */
export async function commonJs({ inputs, outputs }: Metafile): Promise<ReadonlyMap<string, string>> {
  const names = [preload, ...pieces, main, ...internal, ...entries.map(({ name }) => name)];
  const files = fileOfEach(inputs, [...new Set(names)]);
  const built = names.map(async (name) => [fileOf(name), await buildFile(name, files, inputs)] as const);
  const loaded = preloaded.map(async (name) => [fileOf(name), await buildPreloaded(name)] as const);
  const wrappers = entries.map((entry) => wrapper(entry, outputs[`dist/${entry.name}.js`]?.exports ?? []));
  return new Map([...(await Promise.all([...built, ...loaded])), ...wrappers]);
}

function fileOf(name: string): string {
  return `${name.slice(name.lastIndexOf('/') + 1)}.cjs`;
}

/** fileOfEach returns for each module the built file that contains it. The key is the path of the module. */
function fileOfEach(inputs: Inputs, names: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map(besidePreload.map((module) => [sourceOf(module), preload]));
  for (const name of names) {
    for (const path of reached(inputs, sourceOf(name))) {
      const isShared = name === main || files.has(path);
      if (!isPiece(files.get(path))) files.set(path, isShared && !isPiece(name) ? main : name);
    }
  }
  return files;
}

function isPiece(name: string | undefined): boolean {
  return name !== undefined && (name === preload || pieces.includes(name));
}

function reached(inputs: Inputs, from: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(from);
  for (const { path } of importsOf(inputs, from)) if (!found.has(path)) reached(inputs, path, found);
  return found;
}

function importsOf(inputs: Inputs, path: string): Inputs[string]['imports'] {
  return inputs[path]?.imports.filter(({ external }) => external !== true) ?? [];
}

async function buildFile(name: string, files: ReadonlyMap<string, string>, inputs: Inputs): Promise<string> {
  const foreign = [...files].filter(([, file]) => file !== name).map(([path]) => path);
  const needed = new Set(foreign.flatMap((path) => importsOf(inputs, path).map((one) => one.path)));
  const shared = [...needed].filter((path) => files.get(path) === name).sort();
  const source = sourceOf(name);
  const { outputFiles } = await build({
    ...common,
    format: 'cjs',
    // The banner keeps the strict mode of the sources, because ECMAScript modules always run in strict mode.
    banner: { js: "'use strict';" },
    // A sandbox such as Jest's has no `import()`, so esbuild must convert each `import()` into `require()`.
    supported: { 'dynamic-import': false },
    plugins: [inlined, sharing(name, files)],
    ...(shared.length === 0 ? { entryPoints: [source] } : { stdin: withModules(source, shared) }),
  });
  return outputFiles.map(({ text }) => text).join('');
}

function withModules(source: string, shared: readonly string[]): StdinOptions {
  const imports = shared.map((path, index) => `import * as module${String(index)} from './${path}';`);
  const modules = shared.map((path, index) => `'${path}': module${String(index)}`).join(', ');
  const property = `Object.defineProperty(module.exports, 'modules', { value: { ${modules} } });`;
  return { contents: [`export * from './${source}';`, ...imports, property].join('\n'), resolveDir: root };
}

/**
 * `sharing()` is an esbuild plugin. If a module is already in another built file, the plugin imports the module from
 * that file.
 */
function sharing(name: string, files: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'sharing',
    setup(bundle) {
      bundle.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const module = relative(root, join(resolveDir, path));
        const file = files.get(module);
        return file === undefined || file === name ? undefined : { path: module, namespace: 'shared' };
      });
      bundle.onResolve({ filter: /\.cjs$/, namespace: 'shared' }, ({ path }) => ({ path, external: true }));
      bundle.onLoad({ filter: /./, namespace: 'shared' }, ({ path }) => ({
        contents: `module.exports = require('./${fileOf(files.get(path) ?? main)}').modules['${path}'];`,
      }));
    },
  };
}

// An old version of Node must be able to parse this file, so that the file can print the error about the version.
async function buildPreloaded(name: string): Promise<string> {
  const { outputFiles } = await build({
    ...common,
    target: 'node12',
    format: 'cjs',
    entryPoints: [`src/${name}.cts`],
    plugins: [
      {
        name: 'files',
        setup(bundle) {
          bundle.onResolve({ filter: /^\..*\.c?ts$/ }, ({ path, kind }) =>
            kind === 'entry-point' ? undefined : { path: `./${fileOf(path.replace(/\.c?ts$/, ''))}`, external: true },
          );
        },
      },
    ],
  });
  return outputFiles.map(({ text }) => text).join('');
}

function wrapper({ name, default: ownDefault }: Entry, exported: readonly string[]): readonly [string, string] {
  const named = exported.filter((one) => one !== 'default').sort();
  const all = ownDefault === undefined ? named : [...named, `${ownDefault} as default`];
  return [`${name}.mjs`, `export { ${all.join(', ')} } from './${fileOf(name)}';\n`];
}
