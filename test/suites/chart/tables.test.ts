import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { Ajv, type AnySchema } from 'ajv';
import { isMap, isScalar, parse, parseDocument, type YAMLMap } from 'yaml';
import { electionTable, electionVariableOf } from '../../../src/settings/election-table.ts';
import { limit, period, stallLimit, wholeSeconds, type Kind } from '../../../src/settings/kinds.ts';
import type { Row } from '../../../src/settings/row.ts';
import { settingsTable, variableOf, type SettingName } from '../../../src/settings/table.ts';
import { chart, object, refusals, type Values } from './chart.ts';
import { environmentOf } from './pods.ts';
import { readmeTable, readSchema, valuesIn, type Schema } from './readme.ts';

const read = (file: string): string => readFileSync(join(chart, file), 'utf8');
const defaults = parse(read('values.yaml')) as Values;
const names = Object.keys(settingsTable) as SettingName[];

/** The keys of the block `lameduck` that only the chart uses. They are not settings of the package. */
const terms = [
  'front',
  'longestRequestDuration',
  'marginDuration',
  'frontIdleTimeout',
  'frontDrainDuration',
  'enabled',
  'allowShortDelay',
  'allowUnknownFront',
  'allowLongGracePeriod',
  'allowOtherStopSignal',
];

function at(values: unknown, path: string): unknown {
  return path.split('.').reduce((value, key) => (value as Values | undefined)?.[key], values);
}

test('H-033 HC-20 values.yaml and the schema have the same values with the same defaults', () => {
  const documented = valuesIn(readSchema()).map(({ path }) => path);
  for (const { path, schema } of valuesIn(readSchema())) {
    assert.deepEqual(at(defaults, path), schema.default, path);
    assert.notEqual(schema.description ?? '', '', path);
  }
  const leaves = leavesOf(defaults).filter(
    (leaf) => !documented.some((path) => leaf === path || leaf.startsWith(`${path}.`)),
  );
  assert.deepEqual(leaves, []);
});

function leavesOf(value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, below]) => leavesOf(below, path === '' ? key : `${path}.${key}`));
}

test('H-033 HC-20 the comment above each value in values.yaml is its description in the schema', () => {
  let compared = 0;
  const compare = (map: YAMLMap, schema: Schema): void => {
    for (const [index, { key, value }] of map.items.entries()) {
      const below = isScalar(key) ? schema.properties?.[String(key.value)] : undefined;
      // In values.yaml, the comment above the first key of a map belongs to the map.
      const above = isScalar(key) ? key.commentBefore : undefined;
      const comment = above ?? (index === 0 ? map.commentBefore : undefined);
      // At the start of values.yaml, an empty line separates the comment about the whole file from the comment about
      // the first key.
      const text = comment?.split('\n\n').at(-1)?.replace(/\s+/g, ' ').trim();
      assert.equal(text, below?.description, JSON.stringify(key));
      compared++;
      if (isMap(value) && below?.properties) compare(value, below);
    }
  };
  const { contents } = parseDocument(read('values.yaml'));
  assert.ok(isMap(contents));
  compare(contents, readSchema());
  assert.ok(compared > 100);
});

test('H-029 HC-20 the schema rejects unknown keys at every level that the chart defines, and is itself valid', () => {
  const schema = readSchema();
  const levels = (below: Schema): Schema[] => [below, ...Object.values(below.properties ?? {}).flatMap(levels)];
  for (const level of levels(schema).filter(({ properties }) => properties))
    assert.equal(level.additionalProperties, false);
  assert.deepEqual(schema.properties?.['global'] && schema.properties['enabled'] && true, true);
  assert.doesNotMatch(read('values.schema.json'), /\$ref|"required": \[\s*"lameduck/);
  // In its strict mode, Ajv also rejects a schema with keywords that have no effect.
  const validate = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(schema as AnySchema);
  assert.ok(validate(defaults), JSON.stringify(validate.errors));
  assert.ok(!validate({ ...defaults, replicas: 3 }));
});

describe('H-118 HC-25 the names, defaults and variables of the chart values under `lameduck` match the settings of the package', () => {
  const block = readSchema().properties?.['lameduck']?.properties ?? {};

  it('`lameduck` in the chart values has every setting of the package, and its only other values are those from which the chart computes durations', () => {
    assert.deepEqual(Object.keys(block).sort(), [...names, ...terms].sort());
  });

  it('the chart values under `lameduck` from which durations are computed have the same defaults as the settings of the package', () => {
    for (const name of ['preStopSeconds', 'preShutdownHookTimeout', 'destroyHookTimeout'] as const) {
      const { kind, default: byDefault } = settingsTable[name];
      assert.deepEqual(kind.fromText(String(block[name]?.default)), { value: byDefault(true) }, name);
    }
  });

  it('the chart values under `lameduck` have no default for a setting that the chart does not need, so that the program chooses the value', () => {
    const given = ['probePort', 'preStopSeconds', 'preShutdownHookTimeout', 'destroyHookTimeout'];
    for (const name of names) if (!given.includes(name)) assert.equal(block[name]?.default, null, name);
  });

  it('each setting under `lameduck` in the chart values becomes its environment variable, in a form that the package can parse', async () => {
    const lameduck = Object.fromEntries(names.map((name) => [name, example(name)]));
    delete lameduck['terminationGracePeriodSeconds'];
    const environment = environmentOf(await object('Deployment', { lameduck }));
    for (const name of names) {
      const reading = settingsTable[name].kind.fromText(environment[variableOf(name)] ?? '?');
      assert.ok('value' in reading, `${variableOf(name)}=${String(environment[variableOf(name)])}`);
    }
  });
});

describe('H-118 HC-25 the names, defaults and variables of the chart values under `leaderElection` match the elector settings of the package', () => {
  const block = readSchema().properties?.['leaderElection']?.properties ?? {};
  const rows = Object.entries<Row<unknown, unknown>>(electionTable);

  it('`leaderElection` in the chart values has every setting of an elector, and its only other values are `enabled` and `leaseName`', () => {
    assert.deepEqual(Object.keys(block).sort(), [...Object.keys(electionTable), 'enabled', 'leaseName'].sort());
  });

  it('under `leaderElection`, the chart sets a default only for stopTimeout, and this is the default of the package', () => {
    const given = Object.fromEntries(rows.map(([name]) => [name, block[name]?.default]));
    assert.deepEqual(electionTable.stopTimeout.kind.fromText(String(given['stopTimeout'])), {
      value: electionTable.stopTimeout.default(true),
    });
    for (const [name] of rows) if (name !== 'stopTimeout') assert.equal(given[name], null, name);
  });

  it('the chart passes each setting under `leaderElection` as its environment variable, and passes none if leader election is off', async () => {
    const values = { leaseNamespace: 'jobs', leaseDuration: '1m', renewDeadline: '40s', retryPeriod: '1500ms' };
    const leaderElection = { ...values, stopTimeout: '7s' };
    const on = environmentOf(await object('Deployment', { leaderElection: { ...leaderElection, enabled: true } }));
    const off = environmentOf(await object('Deployment', { leaderElection }));
    for (const [name, given] of Object.entries(leaderElection)) {
      assert.equal(on[electionVariableOf(name)], given);
      assert.equal(off[electionVariableOf(name)], undefined);
    }
  });
});

const examples: Readonly<Record<string, unknown>> = {
  duration: '20s',
  limit: '20s',
  'stall limit': '40s',
  durations: '100ms,1s,1m30s',
  boolean: true,
  seconds: 7,
  count: 123_456,
  chance: 0.0005,
  path: '/internal/metrics',
  'process signals': 'SIGTERM,SIGINT',
  port: 9_000,
  host: '0.0.0.0',
  file: '/dev/termination-log',
  'log file': '-',
  paths: '/health,/ready',
  'path prefixes': '/socket.io/,/watch',
  'reconnecting or all or none': 'all',
  'on or off': 'on',
  'hold or run': 'run',
  'silent or error or warn or info or debug': 'warn',
  'json or gcp': 'gcp',
};

const durations = new Map<Kind<unknown>, string>([
  [limit, 'limit'],
  [stallLimit, 'stall limit'],
  [period, 'period'],
  [wholeSeconds, 'whole seconds'],
]);

function kindOf(kind: Kind<unknown>): string {
  return durations.get(kind) ?? kind.name;
}

function example(name: SettingName): unknown {
  if (name === 'keepAliveTimeout') return '70s';
  if (name === 'readyzEventLoopStallLimit') return '4s';
  const kind = kindOf(settingsTable[name].kind);
  const value = examples[kind];
  assert.notEqual(value, undefined, `there must be an example of ${kind}`);
  return value;
}

describe(
  'H-059 HC-03 for an invalid setting, the error message of the chart has the same text as the error message of the package',
  { concurrency: 2 },
  () => {
    const wrong: Readonly<Record<string, readonly string[]>> = {
      duration: ['15', '1500', '-1s', 'soon', '597h', '1.5.1s', '10 s'],
      limit: ['0s', '3', '-1ms', '999us'],
      'stall limit': ['999ms', '5', '999.5ms', '1us'],
      durations: ['1s,100ms', '1s,1s', '1,2', 'soon', '0s,1s', '1s,', ''.padEnd(200, '1s,')],
      boolean: ['yes', 'True'],
      seconds: ['15s', '-1', '1.5', '2000001'],
      count: ['-1', '1000001', 'many'],
      chance: ['0.03', '1', '-0.1'],
      path: ['metrics', '/readyz', '/metrics/'],
      paths: ['health', '/livez', '/health, /LIVEZ/ping', '/health,/livez'],
      'path prefixes': ['socket.io', '/', '/watch, //', '/watch,'],
      'process signals': ['SIGKILL', 'TERM', 'SIGTERM;SIGINT'],
      port: ['65536', 'http', '-1'],
      host: ['localhost', 'a:b:z', 'a:b', '999.0.0.1', '01.2.3.4', '1::2::3', '1:2:3:4:5:6:7::8'],
      file: ['termination-log', '/dev/'],
      'log file': ['audit.log', '/var/log/', '--'],
      namespace: ['Jobs', 'a.b', '-a', 'a'.repeat(64)],
      period: ['999ms', '2', '0s'],
      'whole seconds': ['10.9s', '999ms', '15', '15.000001s', 'soon', '597h'],
    };
    const { terminationGracePeriodSeconds: _, ...given } = settingsTable;
    const tables = { lameduck: given, leaderElection: electionTable };
    const rows = Object.entries<Readonly<Record<string, Row<unknown, unknown>>>>(tables).flatMap(([block, table]) =>
      Object.entries(table).map(([name, { kind }]) => ({ block, name, kind })),
    );
    for (const { block, name, kind } of rows) {
      it(`the chart rejects an invalid value of ${block}.${name}`, async () => {
        for (const text of wrong[kindOf(kind)] ?? []) {
          const reading = kind.fromText(text);
          const lines = await refusals({ [block]: { [name]: text } });
          assert.ok('allowed' in reading, `${name}=${text}`);
          const said = `${block}.${name} (${text}): must be ${reading.allowed}; correct it, or leave it out for the default`;
          assert.ok(lines.includes(said), `${said}\n${lines.join('\n')}`);
        }
      });
    }
  },
);

test('H-156 the table in the README of the chart equals the schema of its values', () => {
  const [first, last] = [
    '<!-- The table comes from values.schema.json: UPDATE=1 npm run test:chart. -->',
    '<!-- Up to here. -->',
  ];
  const readme = read('README.md');
  const [before = '', rest = ''] = readme.split(first);
  const [, after] = rest.split(last);
  const table = [
    first,
    '<!-- prettier-ignore-start -->',
    '',
    ...readmeTable(),
    '',
    '<!-- prettier-ignore-end -->',
    last,
  ];
  const whole = `${before}${table.join('\n')}${after ?? ''}`;
  if (process.env['UPDATE'] === '1') writeFileSync(join(chart, 'README.md'), whole);
  else assert.equal(readme, whole);
});
