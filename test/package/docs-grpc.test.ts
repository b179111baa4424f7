// Runs the program and the probe commands of docs/grpc.md as the page shows them, with other ports, on the built
// package.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { reservePort } from '../support/reserved-port.ts';
import { GrpcHealthClient } from '../support/grpc.ts';
import { blocksIn, readPage, root } from '../support/markdown.ts';

interface Probes {
  readonly readinessProbe: { readonly exec?: { readonly command: readonly string[] } };
  readonly livenessProbe: { readonly exec?: { readonly command: readonly string[] } };
}

const endedWell = { code: 0, signal: null };

const stubs: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'app.js': `
    export const app = (request, response) => response.end('from the app');
    export const orders = { isReachable: async () => false };
  `,
};

test('the program of docs/grpc.md reports for each gRPC service the health status that the page states', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'docs-grpc-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules', '@grpc'), { recursive: true });
  await symlink(root, join(folder, 'node_modules', 'lameduck'));
  await symlink(join(root, 'node_modules', '@grpc', 'grpc-js'), join(folder, 'node_modules', '@grpc', 'grpc-js'));
  const port = await reservePort();
  const [program = ''] = textsIn('ts');
  for (const [name, text] of Object.entries(stubs)) await writeFile(join(folder, name), text);
  await writeFile(join(folder, 'main.ts'), program.replace('9090', String(port)).replace('8080', '0'));

  const running = disposed(t, new CommandUnderTest(process.execPath, [join(folder, 'main.ts')]));
  await running.printed(/"name":"MuxAndDiscoveryComplete"/);
  const client = new GrpcHealthClient(port);
  t.after(() => {
    client.stub.close();
  });
  const said = await Promise.all(['', 'livez', 'shop.Orders'].map((service) => client.check(service)));
  assert.deepEqual(said, ['NOT_SERVING', 'SERVING', 'NOT_SERVING']);
  for (const [command, code, line] of [
    [byCommand('readinessProbe'), 1, 'grpc: failed: NOT_SERVING\n'],
    [byCommand('livenessProbe'), 0, 'grpc livez: ok\n'],
    [healthCheck(), 1, 'grpc: failed: NOT_SERVING\n'],
  ] as const) {
    const args = command.slice(command.indexOf('probe')).map((arg) => arg.replace('9090', String(port)));
    const main = join(root, 'dist', 'cli', 'main.js');
    const probe = disposed(t, new CommandUnderTest(process.execPath, [main, ...args, '--timeout=20s']));
    assert.deepEqual([(await probe.exit).code, probe.output], [code, line], command.join(' '));
  }
  running.kill('SIGTERM');
  assert.deepEqual(await running.exit, endedWell, running.output);
});

function textsIn(wanted: string): string[] {
  const blocks = blocksIn(readPage('docs/grpc.md'));
  return blocks.flatMap(({ language, text }) => (language === wanted ? [text] : []));
}

function byCommand(probe: keyof Probes): readonly string[] {
  const commands = textsIn('yaml').flatMap((text) => (parse(text) as Probes)[probe].exec?.command ?? []);
  assert.equal(commands[0], 'node_modules/.bin/lameduck');
  return commands;
}

function healthCheck(): readonly string[] {
  const [, command = '[]'] = /^HEALTHCHECK .* \\\n {2}CMD (\[.*\])$/m.exec(textsIn('dockerfile').join()) ?? [];
  return JSON.parse(command) as string[];
}
