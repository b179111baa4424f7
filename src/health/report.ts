// The report of an endpoint in the apiserver's format, one line for each check: how it is written and read.
import type { CheckResult } from './check.ts';

/** ReportedCheck is one line of the report. */
export interface ReportedCheck {
  readonly name: string;
  /** How the check is excluded, as written in the report. */
  readonly exclusion: string | undefined;
  readonly result: CheckResult;
}

/** lineOf returns the line of a check. The report never contains the reason of a failure. */
export function lineOf({ name, exclusion, result }: ReportedCheck): string {
  if (exclusion !== undefined) return `[+]${name} ${exclusion}: ok\n`;
  return result === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
}

/** failingIn returns the names of the failing checks of a report. */
export function failingIn(report: string): string[] {
  return [...report.matchAll(/^\[-\](\S+) failed/gm)].map(([, name = '']) => name);
}
