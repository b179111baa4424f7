// Builds the CommonJS files that Node loads, and small ECMAScript modules through which `import` loads the same
// instances.
//
// The build puts each module of `src` into exactly one built file, so that the state of the module exists once in a
// process. Modules that several built files need are in index.cjs or emit-override.cjs. The other built files read them
// from the property `modules` of these two files.
import { join, relative } from 'node:path';
import { build, type BuildOptions, type Metafile, type Plugin, type PluginBuild } from 'esbuild';
import { besidePreload, entries, internal, main, pieces, preload, preloaded, type Entry } from './entries.ts';
import { common, inlined, root, sourceOf } from './sources.ts';

type Inputs = Metafile['inputs'];

/**
 * Sources describes the modules of the folder `src`. The maps `files` and `exported` have the path of a module as their
 * key.
 */
interface Sources {
  readonly inputs: Inputs;
  /** `files` maps each module to the built file that contains it. */
  readonly files: ReadonlyMap<string, string>;
  /** `exported` maps each module to the names that the module exports. */
  readonly exported: ReadonlyMap<string, readonly string[]>;
}

/**
 * commonJs returns the text of each CommonJS file of the package, and of the small ECMAScript modules for `import`. The
 * parameter is the metafile of esbuild, which lists the imports of each module.
 */
export async function commonJs({ inputs, outputs }: Metafile): Promise<ReadonlyMap<string, string>> {
  const files = fileOfEach(inputs);
  const sources = { inputs, files, exported: await exportsOf([...files.keys()]) };
  const names = [...new Set(files.values())];
  const built = names.map(async (name) => [fileOf(name), await buildFile(name, sources)] as const);
  const loaded = preloaded.map(async (name) => [fileOf(name), await buildPreloaded(name, sources)] as const);
  const wrappers = entries.map((entry) => wrapper(entry, outputs[`dist/${entry.name}.js`]?.exports ?? []));
  return new Map([...(await Promise.all([...built, ...loaded])), ...wrappers]);
}

function fileOf(name: string): string {
  return `${name.slice(name.lastIndexOf('/') + 1)}.cjs`;
}

/** fileOfEach returns for each module the built file that contains it. The key is the path of the module. */
function fileOfEach(inputs: Inputs): ReadonlyMap<string, string> {
  const files = new Map(besidePreload.map((module) => [sourceOf(module), preload]));
  const add = (file: string, module: string): void => {
    for (const path of reached(inputs, sourceOf(module))) if (!files.has(path)) files.set(path, file);
  };
  add(preload, preload);
  for (const module of [...pieces, main]) add(main, module);
  const others = [...internal, ...entries.map(({ name }) => name)];
  for (const name of others) {
    // If two of the built files in the list `others` import a module, the build puts this module into the main file.
    for (const path of reached(inputs, sourceOf(name))) {
      const file = files.get(path);
      if (file === undefined || others.includes(file)) files.set(path, file === undefined ? name : main);
    }
  }
  return files;
}

function reached(inputs: Inputs, from: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(from);
  for (const { path } of importsOf(inputs, from)) if (!found.has(path)) reached(inputs, path, found);
  return found;
}

function importsOf(inputs: Inputs, path: string): Inputs[string]['imports'] {
  return inputs[path]?.imports.filter(({ external }) => external !== true) ?? [];
}

/** exportsOf returns the names of the exports of each module. The key is the path of the module. */
async function exportsOf(modules: readonly string[]): Promise<Sources['exported']> {
  const { metafile } = await build({
    absWorkingDir: root,
    write: false,
    format: 'esm',
    metafile: true,
    outdir: 'dist',
    entryPoints: [...modules],
  });
  return new Map(Object.values(metafile.outputs).map(({ entryPoint = '', exports }) => [entryPoint, exports]));
}

async function buildFile(name: string, sources: Sources): Promise<string> {
  const { inputs, files, exported } = sources;
  const foreign = [...files].filter(([, file]) => file !== name).map(([path]) => path);
  const needed = new Set(foreign.flatMap((path) => importsOf(inputs, path).map((one) => one.path)));
  if (name === main) for (const piece of pieces) needed.add(sourceOf(piece));
  const shared = [...needed].filter((path) => files.get(path) === name).sort();
  const source = sourceOf(name);
  const { outputFiles = [] } = await build({
    ...common,
    format: 'cjs',
    // `use strict` at the top of the built file: the sources are ECMAScript modules, which always run in strict mode.
    banner: { js: "'use strict';" },
    // A sandbox such as Jest's has no `import()`, so esbuild must convert each `import()` into `require()`.
    supported: { 'dynamic-import': false },
    plugins: [inlined, sharing(name, sources)],
    ...(shared.length === 0 ? { entryPoints: [source] } : withModules(source, shared, exported.get(source) ?? [])),
  });
  return outputFiles.map(({ text }) => text).join('');
}

/**
 * withModules returns the esbuild options for a built file that contains modules which other built files need. esbuild
 * evaluates a module that is loaded with `require()` only when it is first used. The exports of the built file are
 * getters, so that `lameduck/register` can load the main file without evaluating all its modules.
 */
function withModules(source: string, shared: readonly string[], names: readonly string[]): BuildOptions {
  const getters = names.map((name) => `get ${name}() { return require('./${source}').${name}; }`).join(', ');
  const modules = shared.map((path) => `get '${path}'() { return require('./${path}'); }`).join(', ');
  const contents = `
    const properties = Object.getOwnPropertyDescriptors({ ${getters} });
    Object.defineProperties(module.exports, { ...properties, __esModule: { value: true }, modules: { value: { ${modules} } } });`;
  // The footer of the built file is code that never runs. Node scans this code for the names of the exports, so that
  // `import { name }` works for the CommonJS file.
  const footer = { js: `0 && (module.exports = { ${names.join(', ')} });` };
  return { stdin: { contents, resolveDir: root }, footer };
}

/**
 * `sharing()` is an esbuild plugin. If another built file already contains a module, the plugin replaces the module
 * with a small ECMAScript module. This small module exports the same values, as constants, from the other built file. A
 * small CommonJS module would not do: esbuild would create a getter for each export in every importing module.
 */
function sharing(name: string, { files, exported }: Sources): Plugin {
  return {
    name: 'sharing',
    setup(bundle) {
      bundle.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const module = relative(root, join(resolveDir, path));
        const file = files.get(module);
        return file === undefined || file === name ? undefined : { path: module, namespace: 'shared' };
      });
      loadShared(
        bundle,
        files,
        (path, value) => `export const { ${(exported.get(path) ?? []).join(', ')} } = ${value};`,
      );
    },
  };
}

/**
 * loadShared replaces each module that another built file already contains. esbuild has such modules in the namespace
 * `shared`. `code` returns the source text that replaces a module. Its parameter `value` is a JavaScript expression
 * that reads the module from the other built file.
 */
function loadShared(bundle: PluginBuild, files: Sources['files'], code: (path: string, value: string) => string): void {
  bundle.onResolve({ filter: /\.cjs$/, namespace: 'shared' }, ({ path }) => ({ path, external: true }));
  bundle.onLoad({ filter: /./, namespace: 'shared' }, ({ path }) => ({
    contents: code(path, `require('./${fileOf(files.get(path) ?? main)}').modules['${path}']`),
  }));
}

// An old version of Node must be able to parse this file, so that the file can print the error about the version.
async function buildPreloaded(name: string, { files }: Sources): Promise<string> {
  const { outputFiles } = await build({
    ...common,
    target: 'node12',
    format: 'cjs',
    entryPoints: [`src/${name}.cts`],
    plugins: [
      {
        name: 'files',
        setup(bundle) {
          bundle.onResolve({ filter: /^\..*\.c?ts$/ }, ({ path, kind, resolveDir }) => {
            if (kind === 'entry-point') return undefined;
            const module = relative(root, join(resolveDir, path));
            if (files.get(module) === main) return { path: module, namespace: 'shared' };
            return { path: `./${fileOf(path.replace(/\.c?ts$/, ''))}`, external: true };
          });
          loadShared(bundle, files, (_path, value) => `module.exports = ${value};`);
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
