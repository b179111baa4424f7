// Tests the results of single rehearsals, as the comparison with a cluster reads them.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { inRehearsal } from './in-rehearsal.ts';

test('a rehearsal without a verdict is a result of the comparison, and does not end the comparison', async () => {
  // The pod is ready, but no client knows its port. So no request is sent.
  const program = "setInterval(() => undefined, 1e6); process.on('SIGTERM', () => process.exit(0))";
  const manifest = 'kind: Pod\nmetadata: { name: silent }\nspec: { containers: [{ name: app }] }\n';
  const { verdict, requests } = await inRehearsal(
    {
      name: 'silent',
      title: 'a program that never listens',
      port: 1,
      manifest: () => Promise.resolve(manifest),
      command: () => [process.execPath, '--eval', program],
    },
    tmpdir(),
    '0s',
  );
  assert.deepEqual([verdict, requests], ['withheld', 0]);
});
