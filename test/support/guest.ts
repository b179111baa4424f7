// A program that knows nothing of lameduck, with `lameduck/register` loaded before it.
import { ProcessUnderTest, type Line } from './process-under-test.ts';

export const register = new URL('register.mjs', import.meta.url).href;

/** Environment of a process that Node itself loads the lifecycle into; its probe port is any that is free. */
export function registered(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { NODE_OPTIONS: `--import=${register}`, LAMEDUCK_PROBE_PORT: 'off', ...env };
}

/** guest starts a fixture with the lifecycle. */
export function guest(fixture: string, env: Readonly<Record<string, string>> = {}): ProcessUnderTest {
  return new ProcessUnderTest(fixture, registered(env));
}

/** messages are the lines of the program and of the log, in the order in which they came. */
export function messages(lines: readonly Line[]): unknown[] {
  return lines.map(({ msg }) => msg);
}
