// A program in one file of ECMAScript modules, as esbuild writes it without a single option for lameduck.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { root } from '../support/markdown.ts';

const program = `
  import { createServer } from 'node:http';
  import { lameduck } from 'lameduck';

  const server = createServer((request, response) => response.end());
  lameduck(server, { metricsPath: '/metrics', logger: { info() {}, warn() {}, error() {} } });
  server.listen(0, '127.0.0.1', async () => {
    const url = 'http://127.0.0.1:' + server.address().port + '/metrics';
    const scrapes = await Promise.all([fetch(url), fetch(url + '/slis'), fetch(url)]);
    console.log(JSON.stringify({ scrapes: scrapes.map(({ status }) => status), hasRequire: 'require' in globalThis }));
    process.kill(process.pid, 'SIGTERM');
  });`;

test('a bundle of ECMAScript modules contains prom-client, and needs no option', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lameduck-bundle-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const outfile = join(folder, 'main.mjs');
  // From inside the package its own name finds its exports.
  const stdin = { contents: program, resolveDir: root };
  await build({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' });
  const command = disposed(t, new CommandUnderTest(process.execPath, [outfile], { cwd: folder }));
  assert.deepEqual(await command.exit, { code: 0, signal: null }, command.output);
  assert.equal(command.output, '{"scrapes":[200,200,200],"hasRequire":false}\n');
});
