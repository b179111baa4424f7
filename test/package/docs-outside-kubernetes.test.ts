// Tests docs/outside-kubernetes.md: the variables of each configuration must result in the shutdown budget that the
// page prints. If systemd is installed, it must accept the unit on the page.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage } from '../support/markdown.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

type Variables = Readonly<Record<string, string>>;
type Pairs = readonly { readonly name: string; readonly value: string }[];

/**
 * Section is the part of docs/outside-kubernetes.md about one platform. `config` is a configuration file for the
 * platform. `sum` is the sentence that states the time until SIGKILL and the resulting shutdown budget.
 */
interface Section {
  readonly config: string;
  readonly sum: string;
}

const page = readPage('docs/outside-kubernetes.md');
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => {
      const [{ text: config = '' } = {}] = blocksIn(text);
      const [sum = ''] = /^With this configuration, .* sends SIGKILL after .*$/m.exec(text) ?? [];
      return [text.split('\n', 1)[0] ?? '', { config, sum }] as const;
    }),
);
const section = (name: string): Section => sections.get(name) as Section;
const fromPairs = (pairs: Pairs): Variables => Object.fromEntries(pairs.map(({ name, value }) => [name, value]));

interface Task {
  readonly containerDefinitions: readonly [{ readonly stopTimeout: number; readonly environment: Pairs }];
}
interface Knative {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [{ readonly env: Pairs }] } } };
}
interface Compose {
  readonly services: {
    readonly shop: { readonly stop_grace_period: string; readonly environment: Variables };
  };
}
interface Ecosystem {
  readonly apps: readonly [{ readonly kill_timeout: number; readonly env: Variables }];
}

const platforms: Readonly<Record<string, (config: string) => { seconds: number; variables: Variables }>> = {
  systemd: (config) => ({
    seconds: Number(/^TimeoutStopSec=(\d+)$/m.exec(config)?.[1]),
    variables: Object.fromEntries(
      [...config.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    ),
  }),
  'Amazon ECS': (config) => {
    const [{ stopTimeout, environment }] = (JSON.parse(config) as Task).containerDefinitions;
    return { seconds: stopTimeout, variables: fromPairs(environment) };
  },
  'Cloud Run': (config) => {
    const [{ env }] = (parse(config) as Knative).spec.template.spec.containers;
    return { seconds: 10, variables: fromPairs(env) };
  },
  'Docker Compose': (config) => {
    const { stop_grace_period: grace, environment } = (parse(config) as Compose).services.shop;
    return { seconds: Number.parseInt(grace, 10), variables: environment };
  },
  PM2: (config) => {
    const module = { exports: {} as Ecosystem };
    runInNewContext(config, { module });
    const [{ kill_timeout: milliseconds, env }] = module.exports.apps;
    return { seconds: milliseconds / 1_000, variables: { ...env } };
  },
};

// Extracts the formula of the shutdown budget from the start line, in the form in which docs/outside-kubernetes.md
// prints the formula.
function sumIn(platform: string, message: string): string {
  const [, grace = '', budget = ''] =
    /SECONDS|terminationGracePeriodSeconds (\S+) .*= budget (\S+);/.exec(message) ?? [];
  const [, delay = '', destroy = '', drain = ''] =
    /max\(shutdownDelayDuration (\S+) .*destroyHookTimeout (\S+) .*= drain (\S+)$/.exec(message) ?? [];
  const inWords = (text: string): string => text.replace(/s$/, ' s');
  const before = delay === '0s' ? '' : `${inWords(delay)} for the delay, `;
  return `With this configuration, ${platform} sends SIGKILL after ${inWords(grace)}. The shutdown budget is ${inWords(budget)}: ${before}${inWords(destroy)} for destroy hooks and ${inWords(drain)} for the drain.`;
}

describe('docs/outside-kubernetes.md', { concurrency: 5 }, () => {
  for (const [name, read] of Object.entries(platforms)) {
    test(`P-075 the configuration for ${name} in docs/outside-kubernetes.md passes the grace period to lameduck, and the page states the shutdown budget that lameduck logs at the start`, async (t) => {
      const { config, sum } = section(name);
      const { seconds, variables } = read(config);
      assert.equal(variables['LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS'], String(seconds));
      const program = disposed(t, new ProcessUnderTest('listens.ts', { ...variables, LAMEDUCK_LOG_FORMAT: 'json' }));
      const start = await program.line('the start', ({ msg = '' }) => msg.startsWith('lifecycle started'));
      assert.equal(sumIn(name, start.msg ?? ''), sum);
      await program.signaled('HasBeenReady');
      program.kill('SIGKILL');
      await program.exit;
      assert.deepEqual(
        program.lines.filter(({ level }) => Number(level) > 30),
        [],
      );
    });
  }

  test('the systemd unit in docs/outside-kubernetes.md counts as started when node runs, and only node gets SIGTERM', () => {
    const { config } = section('systemd');
    assert.match(config, /^Type=exec$/m);
    assert.match(config, /^KillMode=mixed$/m);
  });

  test('systemd accepts the unit in docs/outside-kubernetes.md', (t: TestContext) => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) {
      t.skip('needs systemd-analyze');
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), 'unit-'));
    t.after(() => {
      rmSync(folder, { recursive: true });
    });
    const unit = join(folder, 'shop.service');
    writeFileSync(unit, section('systemd').config);
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('shop.service'));
    assert.deepEqual([status, about], [0, []]);
  });
});
