// Tests that the folders of src/ import each other only as permitted-imports.ts permits. Also tests that only
// src/process ends the process and listens for process signals.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { permitted, pure, rooms } from './permitted-imports.ts';
import { processMembers } from './process-members.ts';

// Entry files connect the other files and folders of src/, and may import all of them. No file may import an entry
// file, except the file that each worker of node:cluster loads.
const entries: readonly string[] = [
  'fastify.ts',
  'grpc.ts',
  'index.ts',
  'leader-election.ts',
  'register.cts',
  'testing.ts',
];

// Packages that take tens of milliseconds to load. In src/, only the code of observers and electors may load these
// packages, and only at the first use.
const loadedLate: readonly string[] = ['@grpc/grpc-js', 'fastify', 'grpc-health-check', 'prom-client', 'undici'];

interface Import {
  readonly specifier: string;
  readonly isDynamic: boolean;
  readonly isTypeOnly: boolean;
}

interface Source {
  readonly file: string;
  readonly part: string;
  readonly imports: readonly Import[];
  readonly processMembers: readonly string[];
}

const src = join(import.meta.dirname, '..', '..', 'src');
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.c?ts$/.test(file))
  .sort()
  .map(read);

test('every import between two folders of src is in the table of permitted imports', () => {
  for (const { file, part, imports } of sources) {
    for (const { specifier } of imports.filter((found) => found.specifier.startsWith('.'))) {
      const imported = partOf(relative(src, join(src, file, '..', specifier)));
      if (imported === part) continue;
      const mayImport = entries.includes(part) ? Object.keys(permitted) : permitted[part];
      assert.ok(mayImport, `src/${file} belongs to no part in the table`);
      assert.ok(mayImport.includes(imported), `src/${file} imports ${specifier}: ${part} may not import ${imported}`);
    }
  }
});

test('the table of permitted imports lists each folder of src, each file directly in src, and nothing else', () => {
  const named = [...Object.keys(permitted), ...entries].sort();
  assert.deepEqual(named, [...new Set(sources.map(({ part }) => part))].sort());
  for (const [part, parts] of Object.entries(permitted)) {
    for (const other of parts) assert.ok(named.includes(other), `${part} may import ${other}, which does not exist`);
  }
});

for (const [part, folders] of Object.entries(rooms)) {
  test(`the folders of src/${part} are those in the table of permitted imports, and each folder imports only what this table permits`, () => {
    const found = new Map<string, Set<string>>();
    for (const { file, imports } of sources.filter((source) => source.part === part)) {
      const room = roomOf(file);
      if (room === undefined) continue;
      const imported = found.get(room) ?? new Set();
      found.set(room, imported);
      for (const { specifier } of imports.filter((one) => one.specifier.startsWith('.'))) {
        const path = relative(src, join(src, file, '..', specifier));
        const other = partOf(path) === part ? roomOf(path) : undefined;
        if (other !== undefined && other !== room) imported.add(other);
      }
    }
    assert.deepEqual(Object.fromEntries([...found].map(([room, others]) => [room, [...others].sort()])), folders);
  });
}

test('at most seven files are directly in src/http, outside its subfolders', () => {
  const beside = sources.filter(({ file, part }) => part === 'http' && roomOf(file) === undefined);
  assert.ok(beside.length <= 7, beside.map(({ file }) => file).join(', '));
});

for (const folder of pure) {
  test(`src/${folder} compiles without the types of Node and the DOM, reads no clock and uses no random number`, () => {
    const files = sources.filter(({ file }) => file.startsWith(`${folder}/`));
    assert.notEqual(files.length, 0);
    for (const { file, imports } of files) {
      const outside = imports.map(({ specifier }) => specifier).filter((specifier) => !specifier.startsWith('./'));
      assert.deepEqual(outside, [], `src/${file}`);
      assert.doesNotMatch(
        readFileSync(join(src, file), 'utf8'),
        /\bDate\.now|\bnew Date\(\)|\bMath\.random/,
        `src/${file}`,
      );
    }
    // The compiler gets no types of Node and the DOM, so it knows no timer, no `process`, no `fetch` and no `node:`
    // module.
    const program = ts.createProgram({
      rootNames: files.map(({ file }) => join(src, file)),
      options: {
        allowImportingTsExtensions: true,
        lib: ['lib.es2024.d.ts'],
        module: ts.ModuleKind.NodeNext,
        noEmit: true,
        strict: true,
        target: ts.ScriptTarget.ES2024,
        types: [],
      },
    });
    const problems = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
    assert.deepEqual(problems, []);
  });
}

test('npm packages that load slowly are imported only by the folder of src that uses them, and only at their first use', () => {
  for (const { file, part, imports } of sources) {
    for (const { specifier, isDynamic, isTypeOnly } of imports) {
      if (!loadedLate.some((name) => specifier === name || specifier.startsWith(`${name}/`))) continue;
      // src/fastify receives the application from the program, and needs only the types of Fastify.
      if (['fastify', 'fastify.ts'].includes(part) && specifier === 'fastify' && isTypeOnly) continue;
      // lameduck/grpc and lameduck/leader-election are separate exports, because they need packages that not every
      // program has.
      if (['grpc', 'grpc.ts'].includes(part) && specifier.includes('grpc')) continue;
      const loader = specifier === 'undici' ? 'leader-election' : 'observers';
      assert.equal(part, loader, `src/${file} imports ${specifier}`);
      assert.ok(isDynamic || isTypeOnly, `src/${file} imports ${specifier} at its start`);
    }
  }
});

// Every process with `lameduck/register` loads register.cts and cluster-disconnect.ts. These two files therefore use
// undocumented properties of Node directly, and do not load node-internals.ts.
const withInternals = ['node-internals.ts', 'process/cluster-disconnect.ts', 'register.cts'];

test('only node-internals.ts, cluster-disconnect.ts and register.cts use undocumented properties and events of Node', () => {
  const names =
    /\b_(?:destroyed|getActiveHandles|handle|header|httpMessage|parent)\b|'_final'|httpAllowHalfOpen|kEnhanceStack|'internalMessage'|\.state\.(?:state|localClose)\b/;
  for (const { file } of sources.filter((source) => !withInternals.includes(source.file))) {
    assert.doesNotMatch(readFileSync(join(src, file), 'utf8'), names, `src/${file}`);
  }
});

test('only src/process listens for process signals and ends the process', () => {
  for (const { file, part, processMembers: members } of sources) {
    if (part !== 'process') assert.deepEqual(members, [], `src/${file}`);
  }
});

function partOf(file: string): string {
  return file.split('/')[0] ?? file;
}

function roomOf(file: string): string | undefined {
  const [, room, name] = file.split('/');
  return name === undefined ? undefined : room;
}

function read(file: string): Source {
  const imports: Import[] = [];
  const members: string[] = [];
  const visit = (node: ts.Node): void => {
    const found = importIn(node);
    if (found !== undefined) imports.push(found);
    if (ts.isPropertyAccessExpression(node) && isProcess(node.expression) && processMembers.includes(node.name.text)) {
      members.push(node.name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(join(src, file), 'utf8'), ts.ScriptTarget.Latest, true));
  return { file, part: partOf(file), imports, processMembers: members };
}

function importIn(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const isTypeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return { specifier: node.moduleSpecifier.text, isDynamic: false, isTypeOnly };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, isDynamic: false, isTypeOnly: node.isTypeOnly };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return { specifier: node.argument.literal.text, isDynamic: false, isTypeOnly: true };
  }
  if (!ts.isCallExpression(node)) return undefined;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
  if (!isRequire && node.expression.kind !== ts.SyntaxKind.ImportKeyword) return undefined;
  const [argument] = node.arguments;
  // If the specifier is computed at run time, return the name of a module that does not exist. The test then rejects
  // the import, because such an import could load any module.
  const specifier = argument !== undefined && ts.isStringLiteral(argument) ? argument.text : './unknown';
  return { specifier, isDynamic: true, isTypeOnly: false };
}

function isProcess(expression: ts.Expression): boolean {
  if (ts.isIdentifier(expression)) return expression.text === 'process';
  return ts.isPropertyAccessExpression(expression) && expression.name.text === 'process';
}
