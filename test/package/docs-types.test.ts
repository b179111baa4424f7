// Type-checks all programs in README.md and in docs/ without any change, in one run of the TypeScript compiler.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage, root } from '../support/markdown.ts';

// Type declarations of the modules that the programs of each page import but do not show, because readers write them.
const stubs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'app.d.ts': `
      import type { RequestListener, Server } from 'node:http';
      export const app: RequestListener;
      export const server: Server;
      export function warmUp(): Promise<void>;
      export function isInMaintenance(): boolean;
      export const pool: { end(): Promise<void> };
    `,
  },
  'docs/fastify.md': {
    'app.d.ts': `
      import type { FastifyInstance } from 'fastify';
      export const pool: { isConnected(): boolean; end(): Promise<void> };
      export function routes(app: FastifyInstance): Promise<void>;
      export const news: { next(options: { signal: AbortSignal }): Promise<object | undefined> };
      export const app: FastifyInstance;
    `,
  },
  'docs/grpc.md': {
    'app.d.ts': `
      import type { RequestListener } from 'node:http';
      export const app: RequestListener;
      export const orders: { isReachable(): Promise<boolean> };
    `,
  },
  'docs/hooks.md': {
    'app.d.ts': `
      import type { RequestListener } from 'node:http';
      export const app: RequestListener;
      export const cache: { fill(options: { signal: AbortSignal }): Promise<void> };
      export const prices: { refresh(): Promise<void> };
      export const registry: { deregister(options: { reason: string | undefined; signal: AbortSignal }): Promise<void> };
      export const worker: { close(): Promise<void> };
      export const redis: { quit(): Promise<string> };
      export const pool: { end(): Promise<void> };
      export const telemetry: { flush(): Promise<void> };
    `,
  },
  'docs/leader-election.md': {
    'app.d.ts': `
      import type { RequestListener } from 'node:http';
      export const app: RequestListener;
      export function sendReports(options: { signal: AbortSignal; token: string }): Promise<void>;
    `,
  },
  'docs/testing.md': {
    'server.d.ts': `
      import type { Server } from 'node:http';
      export const server: Server;
    `,
    'create-app.d.ts': `
      import type { Server } from 'node:http';
      export function createApp(): { app: Server; pool: { readonly isClosed: boolean } };
    `,
  },
};

const compilerOptions = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  module: 'nodenext',
  target: 'es2024',
  types: ['node'],
  typeRoots: [join(root, 'node_modules', '@types')],
};

test('the programs of the README and of docs/ pass the type check', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'docs-types-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules', '@grpc'), { recursive: true });
  await symlink(root, join(folder, 'node_modules', 'lameduck'));
  for (const name of ['fastify', 'fastify-plugin', '@grpc/grpc-js']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
  for (const [page, declarations] of Object.entries(stubs)) {
    const programs = blocksIn(readPage(page)).filter(({ language }) => language === 'ts');
    assert.notEqual(programs.length, 0, page);
    await mkdir(join(folder, page), { recursive: true });
    for (const [name, text] of Object.entries(declarations)) await writeFile(join(folder, page, name), text);
    for (const [index, { text }] of programs.entries()) {
      await writeFile(join(folder, page, `program-${String(index)}.ts`), text);
    }
  }
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const tsc = disposed(t, new CommandUnderTest(process.execPath, [compiler, '--project', folder]));
  assert.deepEqual(await tsc.exit, { code: 0, signal: null }, tsc.output);
});
