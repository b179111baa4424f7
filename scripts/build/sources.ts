// The esbuild options that every build of the sources shares, and the plugin that inlines files of the source tree.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';

export const root = join(import.meta.dirname, '..', '..');

/** sourceOf returns the path of a module of `src`, relative to the root of the repository. */
export function sourceOf(name: string): string {
  return `src/${name}.ts`;
}

/**
 * `common` holds the options of every build. Imports of packages are not bundled: they come from the program's
 * `node_modules`.
 */
export const common = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node22',
  packages: 'external',
  // If a file is pure ASCII, V8 stores its text with one byte per character, and compiles the file faster. esbuild
  // therefore escapes other characters.
  charset: 'ascii',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** `inlined` replaces each module that reads a file of the source tree with the content of that file. */
export const inlined: Plugin = {
  name: 'inlined',
  setup(bundle) {
    bundle.onLoad({ filter: /\/src\/version\.ts$/ }, () => {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
      return { contents: `export const version = ${JSON.stringify(version)};` };
    });
    bundle.onLoad({ filter: /\/src\/probe-worker\/thread-code\.ts$/ }, async () => ({
      contents: `export const threadCode = ${JSON.stringify(await threadCode())};`,
    }));
  },
};

// Returns the code of the probe thread as text. The probe thread runs this text as a script, in which `require` exists.
async function threadCode(): Promise<string> {
  const entryPoints = [sourceOf('probe-worker/thread')];
  const { outputFiles } = await build({ ...common, entryPoints, format: 'cjs', minifyWhitespace: true });
  return outputFiles.map(({ text }) => text).join('');
}
