// Builds the ECMAScript modules: the command, and the exports for bundlers. A bundler selects these exports by the
// condition `module`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { clientsThread, command as commandModule, entries, internal, pieces, preload } from './entries.ts';
import { common, inlined, root, sourceOf } from './sources.ts';

type Files = ReadonlyMap<string, string>;

const modules = { ...common, format: 'esm' as const, plugins: [inlined] };

/**
 * ecmaScript builds the exports of the package as ECMAScript modules. The returned metafile also lists the modules of
 * the files in `internal`, `pieces` and `preload`.
 */
export async function ecmaScript(): Promise<{ readonly files: Files; readonly metafile: Metafile }> {
  const graph = await build({
    ...modules,
    metafile: true,
    entryPoints: [...entries.map(({ name }) => name), ...internal, ...pieces, preload].map(sourceOf),
    outdir: 'dist',
  });
  const { outputFiles } = await build({
    ...modules,
    entryPoints: entries.map(({ name }) => sourceOf(name)),
    splitting: true,
    outdir: 'dist/bundler',
    outExtension: { '.js': '.mjs' },
    chunkNames: '[name]-[hash]',
  });
  return { files: named(outputFiles), metafile: graph.metafile };
}

/**
 * `command()` builds the program `lameduck`, which loads each subcommand when it is run. The build includes the
 * packages that the program needs, so that services that depend on lameduck do not have to install them.
 */
export async function command(): Promise<Files> {
  const { outputFiles } = await build({
    ...modules,
    packages: 'bundle',
    // Bundle the browser build of the package `yaml`. The Node build of `yaml` is CommonJS, which cannot be bundled
    // into an ECMAScript module.
    alias: { yaml: join(root, 'node_modules', 'yaml', 'browser', 'index.js') },
    entryPoints: [
      { in: sourceOf(commandModule), out: 'main' },
      { in: sourceOf(clientsThread.module), out: clientsThread.file },
    ],
    splitting: true,
    outdir: 'dist/cli',
  });
  const licence = readFileSync(join(root, 'node_modules', 'yaml', 'LICENSE'), 'utf8');
  return new Map([...named(outputFiles), ['cli/yaml.LICENSE', licence]]);
}

function named(outputFiles: readonly { readonly path: string; readonly text: string }[]): Files {
  const dist = join(root, 'dist/');
  return new Map(outputFiles.map(({ path, text }) => [path.slice(dist.length), text]));
}
