// Which part of src may import which, and who may touch the process: as one table, so that a new edge is a decision.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

// A part is a folder of src, or a file beside the folders. Files of one folder may import each other.
const permitted: Readonly<Record<string, readonly string[]>> = {
  'address.ts': [],
  'bundled.ts': [],
  'clock.ts': [],
  'deadline.ts': ['clock.ts'],
  'errors.ts': [],
  'exit-codes.ts': [],
  'standard-output.ts': [],
  'step.ts': ['clock.ts', 'deadline.ts'],
  'thenable.ts': [],
  lifecycle: [],
  'message.ts': [],
  settings: ['errors.ts'],
  'registration.ts': ['errors.ts', 'settings'],
  'observer.ts': ['lifecycle', 'message.ts'],
  'inspection.ts': ['lifecycle', 'observer.ts'],
  'package-version.ts': ['errors.ts'],
  'version.ts': [],
  hooks: ['clock.ts', 'errors.ts', 'registration.ts', 'observer.ts', 'settings'],
  health: [
    ...['clock.ts', 'errors.ts', 'lifecycle', 'message.ts', 'observer.ts', 'registration.ts', 'settings'],
    'thenable.ts',
  ],
  http: ['address.ts', 'clock.ts', 'deadline.ts', 'errors.ts', 'observer.ts', 'settings', 'message.ts'],
  process: [
    ...['clock.ts', 'errors.ts', 'exit-codes.ts', 'lifecycle', 'observer.ts', 'settings', 'standard-output.ts'],
    'version.ts',
  ],
  observers: [
    ...['bundled.ts', 'clock.ts', 'errors.ts', 'inspection.ts', 'lifecycle', 'message.ts', 'observer.ts', 'settings'],
    ...['standard-output.ts', 'thenable.ts', 'version.ts'],
  ],
  'recorder.ts': [
    ...['address.ts', 'clock.ts', 'deadline.ts', 'errors.ts', 'exit-codes.ts', 'hooks', 'http', 'lifecycle'],
    'observer.ts',
  ],
  'startup.ts': ['address.ts', 'clock.ts', 'health', 'hooks', 'http', 'lifecycle'],
  'shutdown.ts': [
    'clock.ts',
    'deadline.ts',
    'exit-codes.ts',
    'hooks',
    'http',
    'lifecycle',
    'observer.ts',
    'recorder.ts',
    'settings',
    'step.ts',
  ],
  // Brings a lifecycle, the process and the log together, for every entry that does so.
  'manage.ts': [
    ...['clock.ts', 'group.ts', 'http', 'observer.ts', 'observers', 'parts.ts', 'probe-thread.ts', 'probe-worker'],
    ...['process', 'registration.ts', 'settings'],
  ],
  // A primary of node:cluster and its workers, each with its lifecycle.
  'group.ts': ['clock.ts', 'exit-codes.ts', 'observer.ts', 'observers', 'parts.ts', 'process', 'settings'],
  'probe-thread.ts': [
    ...['clock.ts', 'errors.ts', 'observer.ts', 'observers', 'parts.ts', 'probe-worker', 'process', 'settings'],
  ],
  // Sends requests to a server, and is no part of one. It knows the format of the health report.
  cli: ['address.ts', 'clock.ts', 'health', 'inspection.ts', 'process', 'settings', 'standard-output.ts'],
  // A thread of its own, and the side of the main thread that it talks to.
  'probe-worker': [
    ...['address.ts', 'clock.ts', 'errors.ts', 'health', 'http', 'observer.ts', 'observers', 'process', 'settings'],
    ...['exit-codes.ts', 'inspection.ts', 'message.ts', 'standard-output.ts'],
  ],
  'handle.ts': [
    ...['errors.ts', 'health', 'hooks', 'http', 'lifecycle', 'observer.ts', 'registration.ts', 'settings'],
    ...['shutdown.ts', 'startup.ts'],
  ],
  // Puts one lifecycle together; what touches the process, and what logs, meets it only in manage.ts.
  'parts.ts': [
    ...['clock.ts', 'handle.ts', 'health', 'hooks', 'http', 'lifecycle', 'observer.ts', 'observers', 'recorder.ts'],
    ...['message.ts', 'settings', 'shutdown.ts', 'startup.ts'],
  ],
  // Only the code that Fastify needs; fastify.ts puts it together.
  fastify: ['errors.ts', 'handle.ts', 'http', 'lifecycle', 'manage.ts', 'observers', 'parts.ts', 'message.ts'],
  // The gRPC health service; grpc.ts puts it together.
  grpc: ['clock.ts', 'health', 'lifecycle'],
  // A lifecycle for a program that knows nothing of it; register.cts loads it when the first server listens.
  register: ['handle.ts', 'http', 'manage.ts', 'parts.ts', 'process', 'settings'],
  // Contends for a Lease; leader-election.ts puts it together with a lifecycle and the process.
  'leader-election': ['clock.ts', 'errors.ts', 'observer.ts', 'observers', 'registration.ts', 'settings'],
  // Starts a server in a test and looks at its requests; testing.ts puts it together.
  testing: ['address.ts', 'clock.ts', 'errors.ts', 'health', 'http', 'parts.ts', 'settings', 'observer.ts'],
};

// The folders of src/http, and which of them each may import. Code that several folders need is in src/http itself.
const rooms: Readonly<Record<string, readonly string[]>> = {
  admission: ['http1', 'http2', 'in-flight', 'responses'],
  drain: ['http1', 'long-running'],
  http1: ['in-flight', 'responses'],
  http2: ['http1', 'in-flight', 'responses'],
  'in-flight': ['http1', 'long-running', 'responses'],
  'long-running': ['in-flight', 'responses', 'upgraded'],
  responses: [],
  'self-requests': [],
  upgraded: ['in-flight', 'responses'],
};

// An entry file wires the others together and may import them all; nothing imports an entry file.
const entries: readonly string[] = [
  ...['fastify.ts', 'grpc.ts', 'index.ts', 'leader-election.ts', 'register.cts', 'testing.ts'],
];

// Packages that cost tens of milliseconds: observers and electors load them, and only when they are first used.
const loadedLate: readonly string[] = ['@grpc/grpc-js', 'fastify', 'grpc-health-check', 'prom-client', 'undici'];

const processMembers: readonly string[] = [
  ...['addListener', 'emit', 'off', 'on', 'once', 'prependListener', 'prependOnceListener', 'removeAllListeners'],
  ...['removeListener', 'abort', 'exit', 'exitCode', 'kill', 'reallyExit'],
];

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

test('every import between the parts of src is in the table', () => {
  for (const { file, part, imports } of sources) {
    for (const { specifier } of imports.filter((found) => found.specifier.startsWith('.'))) {
      const imported = partOf(relative(src, join(src, file, '..', specifier)));
      if (imported === part) continue;
      const mayImport = entries.includes(part) ? Object.keys(permitted) : permitted[part];
      assert.ok(mayImport, `src/${file} belongs to no part of the table`);
      assert.ok(mayImport.includes(imported), `src/${file} imports ${specifier}: ${part} may not import ${imported}`);
    }
  }
});

test('the table names exactly the parts that src has', () => {
  const named = [...Object.keys(permitted), ...entries].sort();
  assert.deepEqual(named, [...new Set(sources.map(({ part }) => part))].sort());
  for (const [part, parts] of Object.entries(permitted)) {
    for (const other of parts) assert.ok(other in permitted, `${part} may import ${other}, which does not exist`);
  }
});

test('src/http has the folders of the table, which import of each other what it permits', () => {
  const found = new Map<string, Set<string>>();
  for (const { file, imports } of sources.filter(({ part }) => part === 'http')) {
    const room = roomOf(file);
    if (room === undefined) continue;
    const imported = found.get(room) ?? new Set();
    found.set(room, imported);
    for (const { specifier } of imports.filter((one) => one.specifier.startsWith('.'))) {
      const other = roomOf(relative(src, join(src, file, '..', specifier)));
      if (other !== undefined && other !== room) imported.add(other);
    }
  }
  assert.deepEqual(Object.fromEntries([...found].map(([room, others]) => [room, [...others].sort()])), rooms);
});

test('at most seven files are beside the folders of src/http', () => {
  const beside = sources.filter(({ file, part }) => part === 'http' && roomOf(file) === undefined);
  assert.ok(beside.length <= 7, beside.map(({ file }) => file).join(', '));
});

test('the lifecycle imports nothing from outside its folder', () => {
  for (const { file, imports } of sources.filter(({ part }) => part === 'lifecycle')) {
    const outside = imports.map(({ specifier }) => specifier).filter((specifier) => !specifier.startsWith('./'));
    assert.deepEqual(outside, [], `src/${file}`);
  }
});

test('heavy packages are loaded only where they are used, when they are first used', () => {
  for (const { file, part, imports } of sources) {
    for (const { specifier, isDynamic, isTypeOnly } of imports) {
      if (!loadedLate.some((name) => specifier === name || specifier.startsWith(`${name}/`))) continue;
      // The plugin is handed an application, and needs no more of Fastify than its types.
      if (['fastify', 'fastify.ts'].includes(part) && specifier === 'fastify' && isTypeOnly) continue;
      // An export of its own, for programs that have the two packages.
      if (['grpc', 'grpc.ts'].includes(part) && specifier.includes('grpc')) continue;
      const loader = specifier === 'undici' ? 'leader-election' : 'observers';
      assert.equal(part, loader, `src/${file} imports ${specifier}`);
      assert.ok(isDynamic || isTypeOnly, `src/${file} imports ${specifier} at its start`);
    }
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
  const [part, room, name] = file.split('/');
  return part === 'http' && name !== undefined ? room : undefined;
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
  // A specifier that is put together at run time could be anything.
  const specifier = argument !== undefined && ts.isStringLiteral(argument) ? argument.text : './unknown';
  return { specifier, isDynamic: true, isTypeOnly: false };
}

function isProcess(expression: ts.Expression): boolean {
  if (ts.isIdentifier(expression)) return expression.text === 'process';
  return ts.isPropertyAccessExpression(expression) && expression.name.text === 'process';
}
