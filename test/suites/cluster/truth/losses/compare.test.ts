import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeNames } from '../../../../../src/cli/rehearsal/causes.ts';
import { faults } from '../../../../../src/cli/rehearsal/start-causes.ts';
import { hasAgreed, failuresToServe, type ComparedLoss } from './compare.ts';

const cause = (name: string) => ({ name, text: '', remedy: '' });

const losing: ComparedLoss = {
  server: { name: 'x', title: 'x', port: 1, manifest: () => Promise.resolve(''), command: () => [] },
  cluster: { requests: 100, lost: 1, refused: 0, exitCode: 0 },
  rehearsal: {
    requests: 100,
    lost: 0,
    refused: 1,
    exitCode: 0,
    verdict: 'lost',
    causes: [cause('listenerClosedTooEarly')],
  },
};

const lossless: ComparedLoss = {
  server: { ...losing.server, hasLameduck: true },
  cluster: { ...losing.cluster, lost: 0 },
  rehearsal: { ...losing.rehearsal, refused: 0, verdict: 'clean', causes: [] },
};

test('for a server without lameduck, the results of cluster and rehearsal agree if at least one request was lost or refused in each of them', () => {
  assert.ok(hasAgreed(losing));
  assert.ok(!hasAgreed({ ...losing, cluster: lossless.cluster }));
  assert.ok(!hasAgreed({ ...losing, rehearsal: { ...losing.rehearsal, refused: 0 } }));
  assert.ok(!hasAgreed({ ...lossless, server: losing.server }));
});

test('the failures to serve are causes that a rehearsal finds, and contain each cause that makes the verdict `lost` without a lost request', () => {
  for (const name of failuresToServe) assert.ok(causeNames.includes(name), name);
  for (const name of [...faults, 'neverServed', 'clientsNeverServed']) assert.ok(failuresToServe.includes(name), name);
});

for (const name of failuresToServe) {
  test(`cluster and rehearsal do not agree if the rehearsal reports ${name} as a cause, because the server then did not serve its clients until its shutdown`, () => {
    const causes = [...losing.rehearsal.causes, cause(name)];
    assert.ok(!hasAgreed({ ...losing, rehearsal: { ...losing.rehearsal, causes } }));
  });
}

test('for a server with lameduck, the results of cluster and rehearsal agree if clients sent requests in both, and no request was lost or refused in either', () => {
  const { server, cluster, rehearsal } = lossless;
  assert.ok(hasAgreed(lossless));
  for (const failed of [
    { cluster: { ...cluster, requests: 0 } },
    { cluster: { ...cluster, refused: 1 } },
    { rehearsal: { ...rehearsal, requests: 0 } },
    { rehearsal: { ...rehearsal, lost: 1 } },
    { rehearsal: { ...rehearsal, verdict: 'withheld' } },
  ] as const) {
    assert.ok(!hasAgreed({ ...lossless, ...failed }), JSON.stringify(failed));
  }
  assert.ok(!hasAgreed({ ...losing, server }));
});
