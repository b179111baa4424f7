// The options that every build of the sources has, and the plugin that inlines files of the source tree.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';

/** root is the folder of the repository. */
export const root = join(import.meta.dirname, '..', '..');

/** sourceOf returns the path of a module of `src`, from the root. */
export function sourceOf(name: string): string {
  return `src/${name}.ts`;
}

/** common is the options of each build. Imports of packages are left to the program's `node_modules`. */
export const common = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node22',
  packages: 'external',
  charset: 'utf8',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** inlined replaces the modules that read a file of the source tree by the content of that file. */
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

// The text is run as a script, with `require`.
async function threadCode(): Promise<string> {
  const entryPoints = [sourceOf('probe-worker/thread')];
  const { outputFiles } = await build({ ...common, entryPoints, format: 'cjs', minifyWhitespace: true });
  return outputFiles.map(({ text }) => text).join('');
}
