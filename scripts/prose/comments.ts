// Extracts the comments of a file as Markdown, on their original lines, so that the rules for pages also apply to
// comments.
import { extname } from 'node:path';
import { parser } from 'typescript-eslint';

interface Comment {
  readonly type: 'Line' | 'Block';
  readonly value: string;
  readonly loc: { readonly start: { readonly line: number } };
}

// The cast is necessary, because the type declarations of the ESLint parser lack its options.
const { parseForESLint: parse } = parser as {
  parseForESLint: (text: string, options: object) => { ast: { comments: Comment[] } };
};

/** proseOf returns the prose of a file. It has the same line numbers as the file. */
export function proseOf(file: string, text: string): string {
  const extension = extname(file);
  if (extension === '.md') return text;
  if (/^\.[cm]?[jt]s$/.test(extension)) return commentsOf(file, text);
  return extension === '.tpl' ? templateCommentsOf(text) : hashCommentsOf(text);
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

// Returns the comments of Go templates and of YAML. All other text is replaced by its line feeds, so that each comment
// keeps its line number.
function templateCommentsOf(text: string): string {
  const parts = text.split(/\{\{-?\s*\/\*([\s\S]*?)\*\/\s*-?\}\}/);
  const comments = parts.map((part, index) => (index % 2 === 1 ? part.trim() : part.replace(/[^\n]/g, '')));
  const ofYaml = hashCommentsOf(text).split('\n');
  return comments
    .join('')
    .split('\n')
    .map((line, index) => line + (ofYaml[index] ?? ''))
    .join('\n');
}

// Indented lines of a comment are usage lines or tables, not sentences. Four spaces make them code in Markdown, and the
// rules for sentences do not apply to code.
function asMarkdown(line: string): string {
  return line.startsWith('  ') ? `    ${line}` : line.trim();
}
