// Writes the table of docs/register.md: how many requests each program loses when it ends, with lameduck/register and
// without.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '../../test/suites/adoption/program.ts';
import { programs } from '../../test/suites/adoption/programs.ts';
import { partIn, withPart } from './part.ts';

const place = {
  page: 'docs/register.md',
  part: 'the table',
  marker: '<!-- The table is written by `.ci/register-programs --write`: do not edit it. -->',
};

/** Row contains the measurements of one program: a row of the table in docs/register.md. */
export interface Row {
  readonly title: string;
  /** The version of the measured package. It is undefined for modules of Node itself. */
  readonly version?: string;
  readonly handling: string;
  readonly lostWithout: number;
  readonly endWithout: string;
  readonly lostWith: number;
  readonly endWith: string;
  readonly cleanup: string;
}

/** Measured contains the results of one benchmark run of all programs. */
export interface Measured {
  readonly node: string;
  readonly clients: number;
  /**
   * The shutdown delay of the programs in the table, in milliseconds. `gracePeriod` is their grace period, in
   * milliseconds.
   */
  readonly delay: number;
  readonly gracePeriod: number;
  readonly rows: readonly Row[];
}

/** withPrograms returns the text of docs/register.md with the measured results in its table. */
export function withPrograms(page: string, measured: Measured): string {
  return withPart(page, place, [
    `The numbers of lost requests in this table are from Node ${measured.node.slice(1)}. In each run, ${String(measured.clients)} clients each send the next request on their kept-alive connection as soon as its last`,
    `response has arrived. The clients never retry. A program that has not exited ${inSeconds(measured.gracePeriod)} after SIGTERM is killed. With`,
    `\`lameduck/register\`, the shutdown delay is ${inSeconds(measured.delay)}.`,
    '',
    '| program | how the program handles SIGTERM | result without lameduck | result with lameduck |',
    '| --- | --- | --- | --- |',
    ...measured.rows.map(rowOf),
  ]);
}

/**
 * tableProblems returns the errors of the table in docs/register.md: programs without a row, and rows for versions that
 * are no longer installed.
 */
export function tableProblems(page: string): string[] {
  const shown = [...partIn(page, place).matchAll(/^\| (.*?) \| (.*?) \| /gm)].map(
    ([, name = '', handling = '']) => `${name} | ${handling}`,
  );
  const wanted = programs.map((program) => {
    // A row for plain Node has no version, because docs/register.md has the version of Node above the table.
    const version = lockedPackage(program);
    return `${program.title}${version === undefined ? '' : ` (${version})`} | ${program.handling}`;
  });
  const missing = wanted.filter((row) => !shown.includes(row)).map((row) => `has no row for ${row}`);
  const extra = shown
    .slice(2)
    .filter((row) => !wanted.includes(row))
    .map((row) => `has a row for ${row}`);
  return [...missing, ...extra].map((problem) => `docs/register.md ${problem}: run .ci/register-programs --write`);
}

/** folderOf returns the folder in which the packages of a program are installed. */
export function folderOf({ isLong }: Program): string {
  return isLong === true ? 'long' : '';
}

/** lockedPackage returns the name and the version of a program's main package, from its lock file. */
export function lockedPackage(program: Program): string | undefined {
  if (program.package === undefined) return undefined;
  const path = join(import.meta.dirname, '../../test/suites/adoption/programs', folderOf(program), 'package-lock.json');
  const { packages } = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, Locked | undefined> };
  const { name = program.package, version = 'is not locked' } = packages[`node_modules/${program.package}`] ?? {};
  return `${name} ${version}`;
}

/** Locked is an entry of a lock file. It has a name only if the package is installed under another name. */
interface Locked {
  readonly name?: string;
  readonly version?: string;
}

function rowOf(row: Row): string {
  const cells = [
    firstCell(row),
    row.handling,
    `without lameduck: ${String(row.lostWithout)} requests lost, the process ${endOf(row.endWithout)}`,
    `with lameduck: ${String(row.lostWith)} requests lost, ${row.cleanup}, the process ${endOf(row.endWith)}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function firstCell({ title, version }: Row): string {
  return version === undefined ? title : `${title} (${version})`;
}

function endOf(end: string): string {
  if (/^\d+$/.test(end)) return `exited with code ${end}`;
  return end.startsWith('SIG') ? `was ended by ${end}` : `was ${end} by SIGKILL`;
}

function inSeconds(milliseconds: number): string {
  return `${String(milliseconds / 1_000)} s`;
}
