// Starts a program that does not call lameduck(). Node loads `lameduck/register` into the process before the program.
import { ProcessUnderTest, type Line } from './process-under-test.ts';

export const register = new URL('register.mjs', import.meta.url).href;

/**
 * `registered()` returns the environment variables that make Node load `lameduck/register`. By default they turn the
 * probe port off.
 */
export function registered(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { NODE_OPTIONS: `--import=${register}`, LAMEDUCK_PROBE_PORT: 'off', ...env };
}

/** startUnderRegister starts a fixture program, and makes Node load `lameduck/register` before it. */
export function startUnderRegister(fixture: string, env: Readonly<Record<string, string>> = {}): ProcessUnderTest {
  return new ProcessUnderTest(fixture, registered(env));
}

/** `messages()` returns the messages of the program and of lameduck, in the order of the output. */
export function messages(lines: readonly Line[]): unknown[] {
  return lines.map(({ msg }) => msg);
}
