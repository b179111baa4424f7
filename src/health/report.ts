// The report of an endpoint, in the apiserver's format: a line for each check, as it is written and as it is read back.
import type { CheckResult } from './check.ts';

/** ReportedCheck is what the report says of a check. */
export interface ReportedCheck {
  readonly name: string;
  /** How the check is left out, in the words of the report. */
  readonly exclusion: string | undefined;
  readonly result: CheckResult;
}

/** lineOf returns the line of a check; why it fails is in no report. */
export function lineOf({ name, exclusion, result }: ReportedCheck): string {
  if (exclusion !== undefined) return `[+]${name} ${exclusion}: ok\n`;
  return result === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
}

/** failingIn returns the names of the checks that fail in a report. */
export function failingIn(report: string): string[] {
  return [...report.matchAll(/^\[-\](\S+) failed/gm)].map(([, name = '']) => name);
}
