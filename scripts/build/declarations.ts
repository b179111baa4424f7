// Writes the type declarations of the package. For `require`, there is one file (.d.cts) for each module that an export
// of the package imports. For `import`, there is one file (.d.mts) for each export of the package. This file re-exports
// the declarations for `require`, so that `require` and `import` have the same types.
import { join, relative } from 'node:path';
import ts from 'typescript';
import { entries } from './entries.ts';
import { root } from './sources.ts';

const relativeImport = /(?<=\b(?:from |import\()['"])(\.[^'"]*)\.ts(?=['"])/g;

/**
 * `declarations()` writes the types of the sources, and throws with the compiler's message if the compiler reports an
 * error. It does not check the types: `npm run check` does, and a check would take most of the time of a build.
 */
export function declarations(): ReadonlyMap<string, string> {
  const emitted = emit();
  const files = new Map<string, string>();
  const add = (name: string): void => {
    const text = emitted.get(name);
    if (text === undefined || files.has(name)) return;
    files.set(name, text.replace(relativeImport, '$1.cjs'));
    for (const [, path = ''] of text.matchAll(relativeImport)) add(`${join(name, '..', path)}.d.cts`);
  };
  for (const name of ['register', ...entries.map((entry) => entry.name)]) add(`types/${name}.d.cts`);
  for (const entry of entries) {
    const own = `export { ${entry.default ?? ''} as default } from './${entry.name}.cjs';\n`;
    const text = `export * from './${entry.name}.cjs';\n${entry.default === undefined ? '' : own}`;
    files.set(`types/${entry.name}.d.mts`, text);
  }
  return files;
}

function emit(): ReadonlyMap<string, string> {
  const path = join(root, 'tsconfig.build.json');
  const { config } = ts.readConfigFile(path, (name) => ts.sys.readFile(name)) as { config: unknown };
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root, undefined, path);
  const program = ts.createProgram(fileNames, { ...options, noCheck: true });
  const files = new Map<string, string>();
  const { diagnostics } = program.emit(undefined, (file, text) => {
    files.set(`types/${relative(join(root, 'dist'), file).replace(/\.d\.ts$/, '.d.cts')}`, text);
  });
  if (diagnostics.length === 0) return files;
  throw new Error(
    ts.formatDiagnostics(diagnostics, {
      getCurrentDirectory: () => root,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    }),
  );
}
