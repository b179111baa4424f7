import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { object, run } from './chart.ts';
import { specOf, type Container } from './pods.ts';

describe('what the init container of an injection does', () => {
  let work: string;
  let from: string;
  let to: string;
  let script: readonly string[];

  before(async () => {
    work = mkdtempSync(join(tmpdir(), 'injection-'));
    from = join(work, 'image');
    to = join(work, 'volume');
    for (const folder of ['dist/cli', 'node_modules/pino']) mkdirSync(join(from, folder), { recursive: true });
    mkdirSync(to);
    for (const file of ['package.json', 'dist/register.cjs', 'node_modules/pino/pino.js']) {
      writeFileSync(join(from, file), file);
    }
    const { initContainers } = specOf(await object('Deployment', { inject: { enabled: true } })).template.spec;
    const [{ command }] = initContainers as [Required<Container>];
    assert.deepEqual([command[0], ...command.slice(3)], ['/nodejs/bin/node', '/app', '/opt/lameduck']);
    script = command.slice(1, 3);
  });

  after(() => {
    rmSync(work, { recursive: true });
  });

  it('copies the package and what it needs, under a name that it gets when it is whole', async () => {
    const { code, errors } = await run(process.execPath, [...script, from, to]);
    assert.equal(code, 0, errors);
    assert.deepEqual(readdirSync(to), ['package']);
    assert.equal(readFileSync(join(to, 'package/dist/register.cjs'), 'utf8'), 'dist/register.cjs');
    assert.equal(readFileSync(join(to, 'package/node_modules/pino/pino.js'), 'utf8'), 'node_modules/pino/pino.js');
  });

  it('lets the server read the copy, which may run as another user', () => {
    assert.equal(statSync(join(to, 'package')).mode & 0o777, 0o755);
  });

  it('changes nothing when it runs again, as after a restart of the node', async () => {
    writeFileSync(join(from, 'dist/register.cjs'), 'another one');
    const { code, errors } = await run(process.execPath, [...script, from, to]);
    assert.equal(code, 0, errors);
    assert.equal(readFileSync(join(to, 'package/dist/register.cjs'), 'utf8'), 'dist/register.cjs');
  });

  it('fails, and leaves nothing that could be loaded, when the image has no such package', async () => {
    const other = join(work, 'other');
    mkdirSync(other);
    rmSync(join(from, 'node_modules'), { recursive: true });
    const { code } = await run(process.execPath, [...script, from, other]);
    assert.notEqual(code, 0);
    assert.ok(!readdirSync(other).includes('package'));
  });
});
