// Bundles programs with esbuild, each into one file, and runs the bundles. The tests pass esbuild no option that
// lameduck would need.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { build } from 'esbuild';
import { certificate } from '../fixtures/certificate.ts';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { root } from '../support/markdown.ts';

const scraped = `
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

const leading = `
  import { createServer } from 'node:https';
  import { writeFileSync } from 'node:fs';
  import { createElector } from 'lameduck/leader-election';

  const key = ${JSON.stringify(certificate.key)}, cert = ${JSON.stringify(certificate.cert)};
  writeFileSync('ca.crt', cert);
  let lease;
  const server = createServer({ key, cert }, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.url.endsWith('/events')) return response.writeHead(403).end('{}');
    const { method } = request;
    if (method === 'GET' && lease === undefined) return response.writeHead(404).end('{"reason":"NotFound"}');
    if (method !== 'GET') {
      lease = JSON.parse(text);
      lease.metadata = { ...lease.metadata, uid: 'u', resourceVersion: '7' };
    }
    response.writeHead(method === 'POST' ? 201 : 200).end(JSON.stringify(lease));
  });
  server.listen(0, '127.0.0.1', async () => {
    const apiServer = { url: 'https://127.0.0.1:' + server.address().port, caFile: 'ca.crt' };
    const logger = { info() {}, warn() {}, error() {} };
    const elector = createElector({ leaseName: 'app', leaseNamespace: 'ns', apiServer, logger });
    await elector.run(({ token }) => {
      console.log(JSON.stringify({ token, hasRequire: 'require' in globalThis }));
    });
    await elector.stop();
    server.close();
  });`;

async function outputOf(t: TestContext, contents: string, format: 'esm' | 'cjs'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lameduck-bundle-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const outfile = join(folder, format === 'esm' ? 'main.mjs' : 'main.cjs');
  // In this repository, `import 'lameduck'` loads the package itself, through its own `exports`.
  const stdin = { contents, resolveDir: root };
  await build({ stdin, outfile, bundle: true, platform: 'node', format, logLevel: 'silent' });
  const command = disposed(t, new CommandUnderTest(process.execPath, [outfile], { cwd: folder }));
  assert.deepEqual(await command.exit, { code: 0, signal: null }, command.output);
  return command.output;
}

test('a bundle of ECMAScript modules contains prom-client, and the bundler needs no option', async (t) => {
  assert.equal(await outputOf(t, scraped, 'esm'), '{"scrapes":[200,200,200],"hasRequire":false}\n');
});

for (const [format, name] of [
  ['esm', 'ECMAScript modules'],
  ['cjs', 'CommonJS'],
] as const) {
  test(`a program with an elector, bundled as ${name} without any special option of the bundler, becomes the leader over TLS`, async (t) => {
    assert.equal(await outputOf(t, leading, format), '{"token":"7","hasRequire":false}\n');
  });
}
