// Formats an uncaught error as Node does. Node would print the error and exit without a drain, so lameduck prints it
// instead. lameduck knows the place of the `throw` only from the stack. If the first stack frame is not in a file,
// lameduck omits the source line.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { enhancedStackOf } from '../node-internals.ts';

/** describeUncaught returns the text that Node would have printed on standard error before exiting. */
export function describeUncaught(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): string {
  const version = `\nNode.js ${process.version}\n`;
  if ((typeof error !== 'object' && typeof error !== 'function') || error === null) {
    return `${String(error)}\n(Use \`node --trace-uncaught ...\` to show where the exception was thrown)\n${version}`;
  }
  try {
    return `${sourceLine(error, origin)}${inspected(error)}\n${version}`;
  } catch {
    return `uncaught error that cannot be printed, because formatting it throws another error\n${version}`;
  }
}

// Formats an error with the options that Node uses. It ignores `Symbol.for('nodejs.util.inspect.custom')`, and shows
// nested causes.
function inspected(error: object): string {
  addWhereEmitted(error as Record<symbol | 'stack', unknown>);
  const colors = process.stderr.isTTY && process.stderr.hasColors();
  return inspect(error, { colors, customInspect: false, depth: Math.max(inspect.defaultOptions.depth ?? 0, 5) });
}

// Adds the place of the `emit()` call to the stack of an error that Node threw because an `error` event had no
// listener. In this error object, Node stores a function that returns the stack with that place.
function addWhereEmitted(error: Record<symbol | 'stack', unknown>): void {
  const stack = enhancedStackOf(error);
  if (stack !== undefined) error.stack = stack;
}

const frame = /^ +at (?:.* \()?((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+):(\d+)\)?$/;

// Returns the source line of the first stack frame, with a caret under the `throw`. If the file cannot be read, it
// returns an empty text.
function sourceLine(error: object, origin: NodeJS.UncaughtExceptionOrigin): string {
  if (!('stack' in error) || typeof error.stack !== 'string') return '';
  const first = error.stack.split('\n').find((line) => /^ +at /.test(line)) ?? '';
  const [, location, line = '', column = ''] = frame.exec(first) ?? [];
  if (location === undefined) return '';
  const source = lineOf(location, Number(line));
  if (source === undefined) return '';
  const before = source.slice(0, Number(column) - 1);
  // For an unhandled rejection, Node points at the place where the error was created. For an exception, Node points at
  // the `throw`.
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
