// The comments of a file as Markdown, each on its own lines, so that the rules for pages also check them.
import { extname } from 'node:path';
import { parser } from 'typescript-eslint';

interface Comment {
  readonly type: 'Line' | 'Block';
  readonly value: string;
  readonly loc: { readonly start: { readonly line: number } };
}

// Its declared type leaves the options out.
const { parseForESLint: parse } = parser as {
  parseForESLint: (text: string, options: object) => { ast: { comments: Comment[] } };
};

/** proseOf returns the prose of a file. It has the same line numbers as the file. */
export function proseOf(file: string, text: string): string {
  const extension = extname(file);
  if (extension === '.md') return text;
  return /^\.[cm]?[jt]s$/.test(extension) ? commentsOf(file, text) : hashCommentsOf(text);
}

function commentsOf(file: string, text: string): string {
  const lines = text.split('\n').map(() => '');
  const { ast } = parse(text, { comment: true, filePath: file, loc: true });
  for (const { type, value, loc } of ast.comments) {
    if (/^\s*(eslint|prettier|@ts)-/.test(value)) continue;
    for (const [index, line] of value.split('\n').entries()) {
      lines[loc.start.line - 1 + index] = type === 'Line' ? asMarkdown(line) : asMarkdown(line.replace(/^\s*\*/, ''));
    }
  }
  return lines.join('\n');
}

function hashCommentsOf(text: string): string {
  return text
    .split('\n')
    .map((line) => asMarkdown(/^\s*#(?!!)(.*)$/.exec(line)?.[1] ?? ''))
    .join('\n');
}

// A comment indents its usage and its tables. Markdown takes four spaces for code, which has no sentences.
function asMarkdown(line: string): string {
  return line.startsWith('  ') ? `    ${line}` : line.trim();
}
