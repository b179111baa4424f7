// Builds the table of values in the chart's README from the schema, the package's settings and the default values.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { electionTable, electionVariableOf } from '../../../src/settings/election-table.ts';
import { settingsTable, variableOf } from '../../../src/settings/table.ts';
import { chart } from './chart.ts';

/** Schema declares the fields of a JSON schema that the tests read. */
export interface Schema {
  description?: string;
  type?: string | string[];
  default?: unknown;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  [keyword: string]: unknown;
}

/** Value is one documented value of the chart. */
export interface Value {
  readonly path: string;
  readonly schema: Schema;
}

/** readSchema returns the chart's schema of values. */
export function readSchema(): Schema {
  return JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema;
}

/** valuesIn returns each value of a schema that has a default, in the schema's order. */
export function valuesIn(schema: Schema, prefix = ''): Value[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, below]) => {
    const path = `${prefix}${key}`;
    return 'default' in below ? [{ path, schema: below }] : valuesIn(below, `${path}.`);
  });
}

/** readmeTable returns the lines of the table of values in the README. */
export function readmeTable(): string[] {
  return ['| value | default | meaning |', '| --- | --- | --- |', ...valuesIn(readSchema()).map(row)];
}

function row({ path, schema }: Value): string {
  const [, block, name = ''] = /^(lameduck|leaderElection)\.(.*)$/.exec(path) ?? [];
  const known = block === 'lameduck' ? settingsTable : electionTable;
  const variableIn = block === 'lameduck' ? variableOf : electionVariableOf;
  const variable = name in known ? `<br>\`${variableIn(name)}\`` : '';
  const byDefault = schema.default === null || schema.default === '' ? '' : `\`${JSON.stringify(schema.default)}\``;
  const choice = schema.enum
    ? ` One of ${schema.enum
        .filter(Boolean)
        .map((one) => `\`${String(one)}\``)
        .join(', ')}.`
    : '';
  return `| \`${path}\`${variable} | ${byDefault} | ${schema.description ?? ''}${choice} |`.replaceAll('  ', ' ');
}
