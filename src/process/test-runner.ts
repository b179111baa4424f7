// Detects a process that runs tests. lameduck then writes no log, because its lines would be mixed with the test
// results.
import type { Environment } from '../settings/environment.ts';

// Jest and Vitest store the matchers of `expect` in a property of globalThis with this key. lameduck recognizes the two
// test runners by this property.
const matchers = Symbol.for('$$jest-matchers-object');

/**
 * runsTests tells whether node:test, Jest, Vitest, Mocha or Jasmine runs tests in this process. It reads no environment
 * variable of a test runner, because a program that a test starts inherits these variables.
 */
export function runsTests(environment: Environment): boolean {
  const { describe, it } = globalThis as { readonly describe?: unknown; readonly it?: unknown };
  if (typeof describe === 'function' && typeof it === 'function') return true;
  // In production, a program may load a test library by accident, and lameduck must still write its log. So a test
  // library that is loaded in production does not count as a test run.
  if (environment['NODE_ENV'] === 'production' || (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '') return false;
  if (matchers in globalThis) return true;
  // `moduleLoadList` is undocumented, but nothing else lists the built-in modules that have been loaded. If
  // `moduleLoadList` is missing, assume that no test is running, so that the log is written.
  const { moduleLoadList } = process as { readonly moduleLoadList?: readonly string[] };
  return moduleLoadList?.includes('NativeModule test') === true;
}
