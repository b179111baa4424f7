// Writes and reads the report of a health endpoint in the apiserver's format, with one line for each check.
import type { CheckResult } from './check.ts';

export interface ReportedCheck {
  readonly name: string;
  /**
   * `exclusion` says how the probe excluded the check: `excluded` by the name of the check, or `excluded with GROUP` by
   * the name of its group. It is undefined if the probe did not exclude the check.
   */
  readonly exclusion: string | undefined;
  readonly result: CheckResult;
}

/**
 * lineOf returns the line for one check in the report of an endpoint. The line never contains the reason of a failure.
 */
export function lineOf({ name, exclusion, result }: ReportedCheck): string {
  if (exclusion !== undefined) return `[+]${name} ${exclusion}: ok\n`;
  return result === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
}

/** failingIn returns the names of the failing checks in the response to a probe. */
export function failingIn(report: string): string[] {
  return [...report.matchAll(/^\[-\](\S+) failed/gm)].map(([, name = '']) => name);
}
