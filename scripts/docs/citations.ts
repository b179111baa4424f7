// Finds the rule numbers that tests and sources cite. It does not check whether a rule with the number exists.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export interface Test {
  readonly title: string;
  readonly file: string;
}

const citation = /\b(?:([AKLHP])-(\d{3}a?)(?:…\1-(\d{3}))?|(HC|LT|M)-(\d{2}))\b/g;
const leadingCitations = /^(?:(?:[AKLHP]-\d{3}a?(?:…[AKLHP]-\d{3})?|(?:HC|LT|M)-\d{2})[,:]?\s+)+/;

/** citedInTests returns, for each rule number, the tests whose title begins with it. */
export function citedInTests(root: string): Map<string, Test[]> {
  const cited = new Map<string, Test[]>();
  for (const file of typeScriptFiles(root, 'test').filter((name) => name.endsWith('.test.ts'))) {
    for (const fullTitle of titlesIn(file, readFileSync(join(root, file), 'utf8'))) {
      const test = { title: fullTitle.replace(leadingCitations, ''), file };
      for (const number of numbersIn(leadingCitations.exec(fullTitle)?.[0] ?? '')) {
        cited.set(number, [...(cited.get(number) ?? []), test]);
      }
    }
  }
  return cited;
}

/** citedInSources returns, for each rule number, the source files that cite it. */
export function citedInSources(root: string): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const file of typeScriptFiles(root, 'src')) {
    for (const number of new Set(numbersIn(readFileSync(join(root, file), 'utf8')))) {
      cited.set(number, [...(cited.get(number) ?? []), file]);
    }
  }
  return cited;
}

function typeScriptFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}

function numbersIn(text: string): string[] {
  return [...text.matchAll(citation)].flatMap(([, family = '', first = '', last = first, checklist, item]) => {
    if (checklist !== undefined) return [`${checklist}-${String(item)}`];
    if (first === last) return [`${family}-${first}`];
    const count = Number(last) - Number(first) + 1;
    return Array.from({ length: count }, (_, index) => `${family}-${String(Number(first) + index).padStart(3, '0')}`);
  });
}

// Take the first argument of any call as a possible test title, because some test files call `test` through functions
// of their own.
function titlesIn(file: string, text: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    const [first] = ts.isCallExpression(node) ? node.arguments : [];
    if (first !== undefined) {
      const title = literalText(first);
      if (title !== undefined && leadingCitations.test(title)) titles.push(title);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return titles;
}

function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
}
