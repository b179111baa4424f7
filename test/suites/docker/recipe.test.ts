// Builds the recipe in docs/image.md for a user's own service, as the page shows it, and runs the service to its end.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { disposed } from '../../support/disposed.ts';
import { blocksIn, readPage, root } from '../../support/markdown.ts';
import { reservePort } from '../../support/reserved-port.ts';
import { composedOptions } from './compose.ts';
import { ask, build, Container, uniqueName } from './runtime.ts';

const execute = promisify(execFile);
const page = readPage('docs/image.md');
const ours = readPage('docker/Dockerfile');

function block(language: string): string {
  const [found, ...others] = blocksIn(page).filter((one) => one.language === language);
  assert.deepEqual(others, []);
  return found?.text ?? assert.fail(`docs/image.md has no ${language}`);
}

const recipe = block('dockerfile');

test('the recipe in docs/image.md runs a service with the same settings as the image of the reference service', () => {
  // Matches the instructions that determine how a container of the image runs. Only the last stage of a Dockerfile
  // becomes the image.
  const running = /^(ENV|EXPOSE|USER|STOPSIGNAL|HEALTHCHECK)\b.*$/gm;
  const said = (dockerfile: string): string[] => [
    ...(dockerfile.match(/^ARG \w+_BASE=.*$/gm) ?? []),
    ...(dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')).match(running) ?? []),
  ];
  assert.deepEqual(said(recipe), said(ours));
  const install = (dockerfile: string): string | undefined =>
    /^RUN --mount[^]*?npm ci .*--no-fund/m.exec(dockerfile)?.[0];
  assert.equal(install(recipe)?.replace(' --omit=dev', ''), install(ours));
});

test('docs/image.md shows the content of docker/pid-1.cjs', () => {
  const [, code = ''] = /^(?:\/\/.*\n)+([^]*)$/.exec(readPage('docker/pid-1.cjs')) ?? [];
  assert.equal(block('js'), code);
});

test('H-166 H-168 H-176 a service that is built by the recipe in docs/image.md serves, and ends cleanly on SIGTERM', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'recipe-'));
  const name = `localhost/${uniqueName()}`;
  t.after(async () => {
    await ask('image', 'rm', '--force', name).catch(() => undefined);
    await rm(folder, { recursive: true });
  });
  await prepare(folder);

  await build(name, join(folder, 'Dockerfile'), folder);
  const [port, probePort] = [await reservePort(), await reservePort()];
  const ports = { PORT: String(port), LAMEDUCK_PROBE_PORT: String(probePort), LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' };
  const container = disposed(t, new Container(composedOptions(ports), name));
  await container.printed(/"name":"HasBeenReady"/);
  assert.equal(await (await fetch(`http://127.0.0.1:${String(port)}/`)).text(), 'hello');
  await container.becomes('healthy');
  await container.stop(20);
  assert.deepEqual(await container.exit, { code: 0, signal: null }, container.output);
  assert.match(container.output, /"reason":"SIGTERM","exitCode":0/);
});

/** `prepare()` writes the files that docs/image.md leaves to the reader, and packs the package from this tree. */
async function prepare(folder: string): Promise<void> {
  const inFolder = { cwd: folder };
  await execute('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  const [tarball = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const manifest = { name: 'own', version: '1.0.0', type: 'module', dependencies: { lameduck: `file:${tarball}` } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await execute('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], inFolder);
  await writeFile(join(folder, 'server.js'), block('ts'));
  await copyFile(join(root, 'docker', 'pid-1.cjs'), join(folder, 'pid-1.cjs'));
  const lines = 'COPY package.json package-lock.json ./';
  assert.ok(recipe.includes(lines));
  await writeFile(join(folder, 'Dockerfile'), recipe.replace(lines, lines.replace('./', `${tarball} ./`)));
}
