// Reads the code blocks, tables and links of a Markdown page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export function readPage(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Block is the text between two code fences. The language is empty if the fence names none. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

export function blocksIn(page: string): Block[] {
  return [...page.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }));
}

/**
 * tablesIn returns the tables of a Markdown page. Each table is a list of rows of cells, without the separator line
 * below the header.
 */
export function tablesIn(page: string): string[][][] {
  const tables = page.match(/(?:^\|.*\|\n)+/gm) ?? [];
  return tables.map((table) =>
    table
      .trimEnd()
      .split('\n')
      .filter((_line, index) => index !== 1)
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
  );
}

/**
 * firstColumn finds the only table of a Markdown page whose first column has the given heading. It returns the cells of
 * this column.
 */
export function firstColumn(page: string, heading: string): string[] {
  const [table, ...others] = tablesIn(page).filter(([head]) => head?.[0] === heading);
  if (table === undefined || others.length > 0) throw new Error(`no table, or several, begins with "${heading}"`);
  return table.slice(1).map(([cell = '']) => cell.replaceAll('`', ''));
}

export function linksIn(page: string): string[] {
  const prose = page.replace(/^```[^]*?^```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}
