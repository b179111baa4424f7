// Whether this process runs tests. If so, no log is written between their results.
import type { Environment } from '../settings/environment.ts';

// The key under which `expect` of Jest and of Vitest keeps its matchers.
const matchers = Symbol.for('$$jest-matchers-object');

/**
 * runsTests tells whether node:test, Jest, Vitest, Mocha or Jasmine runs tests in this process. A process that a test
 * starts does not count, although it inherits the variables of the runner: therefore no variable is read.
 */
export function runsTests(environment: Environment): boolean {
  const { describe, it } = globalThis as { readonly describe?: unknown; readonly it?: unknown };
  if (typeof describe === 'function' && typeof it === 'function') return true;
  // A program in production may load a library for tests by accident, and must not lose its log for that.
  if (environment['NODE_ENV'] === 'production' || (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '') return false;
  if (matchers in globalThis) return true;
  // Undocumented, and the only list of the builtin modules that have been loaded. Without it the log is written.
  const { moduleLoadList } = process as { readonly moduleLoadList?: readonly string[] };
  return moduleLoadList?.includes('NativeModule test') === true;
}
