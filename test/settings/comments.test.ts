// Tests the declarations that the package ships: editors show the comment of each option from them.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { join } from 'node:path';
import ts from 'typescript';
import { settingComments } from '../../scripts/docs/settings-page.ts';
import { electionTable } from '../../src/settings/election-table.ts';
import type { Row } from '../../src/settings/row.ts';
import { settingsTable } from '../../src/settings/table.ts';
import { root } from '../support/markdown.ts';

const rows = Object.entries<Row<unknown, unknown>>({ ...settingsTable, ...electionTable });
const linesFor = (table: object): string =>
  Object.keys(table).reduce((all, name) => `${all}  ${name}: undefined,\n`, '');
const comments = settingComments();

interface Hover {
  readonly type: string;
  readonly text: string;
  readonly default: string | undefined;
  readonly remarks: string | undefined;
}

const hovers = new Map<string, Hover>();

before(() => {
  const user = join(root, 'dist', 'user.mts');
  const program = `import type { LameduckOptions } from './types/index.mjs';
import type { ElectorOptions } from './types/leader-election.mjs';
export const options: LameduckOptions = {
${linesFor(settingsTable)}};
export const election: ElectorOptions = {
${linesFor(electionTable)}};
`;
  const read = (file: string): string | undefined => (file === user ? program : ts.sys.readFile(file));
  const service = ts.createLanguageService({
    getScriptFileNames: () => [user],
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const text = read(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, strict: true, noEmit: true }),
    getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
    fileExists: (file) => file === user || ts.sys.fileExists(file),
    readFile: read,
  });
  for (const [name] of rows) {
    const at = program.indexOf(`  ${name}:`);
    const info = service.getQuickInfoAtPosition(user, at + 2);
    const tagged = (tagName: string): string | undefined =>
      info?.tags?.find((tag) => tag.name === tagName)?.text?.[0]?.text;
    hovers.set(name, {
      type: ts.displayPartsToString(info?.displayParts),
      text: ts.displayPartsToString(info?.documentation).replace(/\s+/g, ' '),
      default: tagged('default'),
      remarks: tagged('remarks'),
    });
  }
});

for (const [name, { kind, default: defaultIn }] of rows) {
  test(`the comment that an editor shows for ${name} has the text of the settings table, the default and the unit`, () => {
    const { text = '', type = '', default: shown, remarks } = hovers.get(name) ?? {};
    const { description = '', default: byDefault } = comments.get(name) ?? {};
    assert.match(text, new RegExp(`^${name}: [A-Z].{20,}\\.$`));
    assert.equal(text, `${name}: ${description}`);
    assert.equal(shown, byDefault);
    if (kind.name === 'duration') {
      assert.match(type, /\bDuration\b/);
      assert.equal(remarks, 'In code, a number is in milliseconds.');
    }
    if (kind.name === 'seconds') assert.match(text, /\bseconds\b/);
  });

  test(`the doc comment of ${name} states the default value of the settings table, and what the value 0 means`, () => {
    const { description = '', default: byDefault = '' } = comments.get(name) ?? {};
    for (const inCluster of [true, false]) {
      const value = defaultIn(inCluster);
      const written = value === undefined ? 'unset' : kind.format(value);
      assert.match(
        byDefault,
        new RegExp(`(^|\`)${kind.name === 'seconds' ? written.replace('s', '') : written}(\`|:)`),
      );
    }
    const takesNumber = ['duration', 'seconds', 'count', 'chance'].includes(kind.name);
    const takesZero = takesNumber && 'value' in kind.fromCode(0);
    if (takesZero && name !== 'terminationGracePeriodSeconds') assert.match(description, /`0s?`/);
  });
}
