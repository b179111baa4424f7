// Tests unusual cases of the lint rules about containers. The examples in docs/lint.md test the usual cases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrapped, wrapped, type Command } from '../../../support/launcher-commands.ts';
import { findingsIn } from '../findings.ts';

test("H-077 an image named `auto` needs no tag, because Istio's injector replaces this image", () => {
  const isReported = (image: string): boolean =>
    findingsIn(`kind: Pod\nspec: { containers: [{ name: proxy, image: ${image} }] }`).some(
      ({ rule }) => rule === 'moving-image-tag',
    );
  assert.equal(isReported('auto'), false);
  assert.equal(isReported('istio/auto'), true);
});

test('H-169 lameduck lint accepts a program that npm starts if its preStop hook is `lameduck stop`', () => {
  const isReported = (hook: string): boolean =>
    findingsIn(
      `kind: Pod\nspec: { containers: [{ name: app, command: [npm, start], ports: [{ containerPort: 80 }], lifecycle: { preStop: { exec: { command: ${hook} } } } }] }`,
    ).some(({ rule }) => rule === 'shell-command');
  assert.equal(isReported('[node_modules/.bin/lameduck, stop]'), false);
  assert.equal(isReported('[npx, lameduck, stop]'), false);
  assert.equal(isReported('[node, /opt/lameduck/package/dist/cli/main.js, stop]'), false);
  assert.equal(isReported('[/app/stop]'), true);
  assert.equal(isReported('[/opt/lameduck/leave]'), true);
});

test('H-169 `lameduck lint` finds npm or a shell in the command and args of a container, also if an init process or another wrapper starts it', () => {
  const found = (command: Command): unknown => {
    const container = { name: 'app', ports: [{ containerPort: 80 }], ...command };
    const [finding] = findingsIn(JSON.stringify({ kind: 'Pod', spec: { containers: [container] } })).filter(
      ({ rule }) => rule === 'shell-command',
    );
    return finding?.path.split('.').at(-1);
  };
  for (const command of wrapped) assert.ok(found(command), JSON.stringify(command));
  for (const command of unwrapped) assert.equal(found(command), undefined, JSON.stringify(command));
  assert.equal(found({ command: ['tini', '--', 'npm', 'start'] }), 'command');
  assert.equal(found({ command: ['tini', '--'], args: ['npm', 'start'] }), 'args');
  assert.equal(found({ command: ['tini', '--', 'sh', '-c', 'exec node server.js'] }), undefined);
});
