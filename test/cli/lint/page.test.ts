// Tests docs/lint.md: each lint rule has a section with pairs of examples. The rule reports the first example of a
// pair, and does not report the second.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minorVersionOf } from '../../../src/cli/kubernetes-version.ts';
import type { Finding } from '../../../src/cli/lint/judge.ts';
import { lintRules } from '../../../src/cli/lint/rules.ts';
import { blocksIn, readPage } from '../../support/markdown.ts';
import { findingsIn } from './findings.ts';

interface Section {
  readonly name: string;
  readonly severity: string;
  readonly examples: readonly string[];
  /** The minor version of Kubernetes for which `lameduck lint` checks the examples of this section of docs/lint.md. */
  readonly minor: number | undefined;
}

const ofFiles = ['unreadable', 'duplicate-key', 'bad-suppression'];

const sections: readonly Section[] = readPage('docs/lint.md')
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [name = ''] = section.split('\n', 1);
    const severity = /^_(Error|Advice)\._/m.exec(section)?.[1]?.toLowerCase() ?? '';
    const minor = minorVersionOf(/`--kubernetes-version ([\d.]+)`/.exec(section)?.[1] ?? '');
    return { name, severity, minor, examples: blocksIn(section).map(({ text }) => text) };
  });

test('docs/lint.md has a section for each lint rule, in order and with its severity', () => {
  const rules = lintRules.map(({ name, severity }) => `${name}: ${severity}`);
  const written = sections.map(({ name, severity }) => `${name}: ${severity}`);
  assert.deepEqual(written.slice(0, rules.length), rules);
  assert.deepEqual(
    sections.slice(rules.length).map(({ name }) => name),
    ofFiles,
  );
});

for (const { name, severity, minor, examples } of sections) {
  test(`lameduck lint reports each bad example of ${name} in docs/lint.md at the line that the page marks, and does not report the example after it`, () => {
    const errors = (findings: readonly Finding[]): string[] =>
      findings.filter((one) => one.severity === 'error').map(({ rule }) => rule);
    assert.ok(examples.length > 0 && examples.length % 2 === 0, 'a section must have pairs of examples');
    for (const [index, example] of examples.entries()) {
      const found = findingsIn(example, minor);
      const line = example.split('\n').findIndex((one) => one.endsWith('# found')) + 1;
      const expected = index % 2 === 0 ? [[line, severity, `docs/lint.md#${name}`]] : [];
      assert.deepEqual(
        found.filter(({ rule }) => rule === name).map((one) => [one.line, one.severity, one.link]),
        expected,
        JSON.stringify(found, null, 1),
      );
      assert.deepEqual(errors(found), severity === 'error' ? expected.map(() => name) : []);
    }
  });
}

test('each finding of `lameduck lint` says what to do, and every message is a sentence', () => {
  for (const { examples, minor } of sections) {
    for (const { message, remedy } of examples.flatMap((example) => findingsIn(example, minor))) {
      assert.match(message, /^[A-Z].*\.$/);
      assert.match(remedy, /^[A-Z].*\.$/);
    }
  }
});

// Checks that docs/lint.md has a section for each of the given rules.
const finds = (...names: string[]): void => {
  const written = sections.map(({ name }) => name);
  for (const name of names) assert.ok(written.includes(name), name);
};

test('H-043, H-061, H-062, P-075 `lameduck lint` adds up all times that must fit into the grace period', () => {
  finds('grace-period-zero', 'pre-stop-fills-grace-period', 'drain-exceeds-grace-period', 'wrong-grace-period');
});

test('H-080 `lameduck lint` finds a preStop sleep that a version of Kubernetes removes or rejects', () => {
  finds('dropped-pre-stop-sleep', 'rejected-pre-stop-sleep');
});

test('H-045, H-063, P-076 `lameduck lint` finds a pod without a shutdown delay, and a pod with two shutdown delays', () => {
  finds('zero-delay', 'no-delay', 'two-delays');
});

test('H-047, H-049, H-052, H-072, H-074 `lameduck lint` compares the shutdown delay and the keep-alive timeout with the load balancer or proxy', () => {
  finds('delay-shorter-than-readiness', 'delay-shorter-than-load-balancer', 'keep-alive-shorter-than-load-balancer');
});

test('H-048 `lameduck lint` compares the shutdown delay with the health check of a load balancer', () => {
  finds('delay-shorter-than-load-balancer');
});

test('H-050 `lameduck lint` compares the drain with the timeout of a load balancer or proxy', () => {
  finds('drain-shorter-than-proxy-timeout');
});

test('H-051 `lameduck lint` compares the deregistration delay of a load balancer with the drain', () => {
  finds('deregistration-delay-shorter-than-drain');
});

test('H-064, H-065, H-066, H-069 `lameduck lint` finds rollouts that remove too many pods or that cannot proceed', () => {
  finds('rollout-without-pods', 'fewer-pods-in-rollout', 'stuck-rollout', 'single-replica', 'short-progress-deadline');
});

test('H-081 `lameduck lint` advises against pods that all run in one zone', () => {
  finds('single-zone');
});

test('H-067, H-068 `lameduck lint` finds disruption budgets and autoscalers with contradicting fields', () => {
  finds('blocked-drain', 'autoscaler-bounds', 'two-autoscalers');
});

test('H-017, H-073, H-079 `lameduck lint` finds Services and routes whose requests reach no pod', () => {
  finds('publish-not-ready-addresses', 'service-selects-job', 'dead-route', 'probe-host');
  finds('unknown-target-port', 'unknown-backend-port', 'never-ready');
});

test('H-075, H-076, H-077, H-078, H-081 `lameduck lint` advises on container fields that are missing or repeated', () => {
  finds('duplicate-name', 'long-port-name', 'moving-image-tag', 'leader-election-without-token', 'no-memory-limit');
});

test('H-070, H-071, K-223 `lameduck lint` finds mistakes in probes that the API server accepts', () => {
  finds('liveness-is-readiness', 'liveness-before-readiness', 'probe-timeout-exceeds-period', 'slow-startup-probe');
  finds('tcp-liveness', 'shell-command', 'invalid-probe', 'unknown-probe-port');
});
