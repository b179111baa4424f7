// Tests that Helm accepts the commands in docs/helm.md and in the chart's README.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { blocksIn, readPage, root } from '../../support/markdown.ts';
import { documentsIn, helms, object, run, type KubernetesObject } from './chart.ts';
import { containerOf } from './pods.ts';

function commandsIn(page: string): string[] {
  const text = blocksIn(readPage(page))
    .map((block) => block.text.replaceAll('\\\n', ' '))
    .join('\n');
  return text.split('\n').filter((line) => line.startsWith('helm install '));
}

test('each supported version of Helm accepts each helm install command in docs/helm.md and helm/lameduck/README.md', async () => {
  const commands = ['docs/helm.md', 'helm/lameduck/README.md'].flatMap(commandsIn);
  assert.ok(commands.length >= 4, commands.join('\n'));
  for (const helm of helms) {
    for (const command of commands) {
      const [, , release = '', folder = '', ...args] = command.trim().split(/\s+/);
      const { code, output, errors } = await run(helm, ['template', release, join(root, folder), ...args]);
      assert.equal(code, 0, `${command}\n${errors}`);
      const deployment = documentsIn(output).find(({ kind }) => kind === 'Deployment') as KubernetesObject;
      const tag = /image\.tag=([^ ,]+)/.exec(command)?.[1] ?? 'dev';
      assert.ok(containerOf(deployment).image.endsWith(`:${tag}`), command);
    }
  }
});

test('H-024 H-127 an image tag in the values of the chart may be a number, such as a build number', async () => {
  for (const tag of ['7', '20261122', '1.10', '007']) {
    const deployment = await object('Deployment', {}, { args: ['--set', `image.tag=${tag}`] });
    assert.equal(containerOf(deployment).image, `localhost/lameduck-reference-service:${tag}`);
  }
  const fromFile = await object('Deployment', { image: { tag: 20_261_122 } });
  assert.equal(containerOf(fromFile).image, 'localhost/lameduck-reference-service:20261122');
});
