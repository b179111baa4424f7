// The text that Node prints for an uncaught error. lameduck prints it, because it drains before the process ends. Only the
// stack has the place of the `throw`. So the source line is omitted if the first frame is not in a file.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

/** describeUncaught returns the text that Node would have printed on standard error before exiting. */
export function describeUncaught(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): string {
  const version = `\nNode.js ${process.version}\n`;
  if ((typeof error !== 'object' && typeof error !== 'function') || error === null) {
    return `${String(error)}\n(Use \`node --trace-uncaught ...\` to show where the exception was thrown)\n${version}`;
  }
  try {
    return `${sourceLine(error, origin)}${inspected(error)}\n${version}`;
  } catch {
    return `an error that cannot be shown, since showing it throws\n${version}`;
  }
}

// With the options that Node uses: without `Symbol.for('nodejs.util.inspect.custom')`, and deep enough for causes.
function inspected(error: object): string {
  addWhereEmitted(error as Record<symbol | 'stack', unknown>);
  const colors = process.stderr.isTTY && process.stderr.hasColors();
  return inspect(error, { colors, customInspect: false, depth: Math.max(inspect.defaultOptions.depth ?? 0, 5) });
}

// An `error` event that nobody listens for carries a function of Node's that adds to the stack where it was emitted.
function addWhereEmitted(error: Record<symbol | 'stack', unknown>): void {
  const key = Object.getOwnPropertySymbols(error).find(
    ({ description }) => description === 'kEnhanceStackBeforeInspector',
  );
  const enhancedStack = key === undefined ? undefined : error[key];
  if (typeof enhancedStack === 'function') error.stack = (enhancedStack as () => unknown)();
}

const frame = /^ +at (?:.* \()?((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+):(\d+)\)?$/;

// The source line of the first stack frame, with a caret under the `throw`; empty if the file cannot be read.
function sourceLine(error: object, origin: NodeJS.UncaughtExceptionOrigin): string {
  if (!('stack' in error) || typeof error.stack !== 'string') return '';
  const first = error.stack.split('\n').find((line) => /^ +at /.test(line)) ?? '';
  const [, location, line = '', column = ''] = frame.exec(first) ?? [];
  if (location === undefined) return '';
  const source = lineOf(location, Number(line));
  if (source === undefined) return '';
  const before = source.slice(0, Number(column) - 1);
  // For a rejection Node points at the place where the error was created, for an exception at the `throw` before it.
  const thrown = origin === 'uncaughtException' ? before.search(/\bthrow\b[^;{}]*$/) : -1;
  const indent = (thrown === -1 ? before : before.slice(0, thrown)).replace(/[^\t]/g, ' ');
  return `${location}:${line}\n${source}\n${indent}^\n\n`;
}

function lineOf(location: string, line: number): string | undefined {
  try {
    const path = location.startsWith('file:') ? fileURLToPath(location) : location;
    return readFileSync(path, 'utf8').split(/\r?\n/)[line - 1];
  } catch {
    return undefined;
  }
}
