// The three output formats of `lameduck lint`.
import { valueText } from '../manifest/fields.ts';
import type { Finding, Judgement } from './judge.ts';
import type { Paint } from '../paint.ts';

/** Format returns the text to print for the result of a lint. */
export type Format = (judgement: Judgement, paint: Paint) => string;

/** `formats` contains the function for each value of `--format`. */
export const formats = { text, json, github } as const satisfies Record<string, Format>;

function text(judgement: Judgement, paint: Paint): string {
  const { findings, suppressed, skipped } = judgement;
  return [
    ...findings.flatMap((finding) => findingLines(finding, paint)),
    ...suppressed.map(({ file, line, rule, reason }) =>
      paint('dim', `${file}:${String(line)}: suppressed: ${rule}: ${reason}`),
    ),
    ...skipped.map(({ file, line, reason }) => paint('dim', `${file}:${String(line)}: ${reason}`)),
    summary(judgement, paint),
  ].join('\n');
}

function findingLines(finding: Finding, paint: Paint): string[] {
  const { file, line, severity, rule, object, path, value, message, remedy, link } = finding;
  const subject = object === undefined ? '' : `  ${object.kind} ${object.name}`;
  const title = `${severity}  ${rule}`;
  return [
    `${file}:${String(line)}  ${paint(severity === 'error' ? 'red' : 'yellow', title)}${subject}`,
    ...(path === '' ? [] : [`  ${path}: ${valueText(value, 80)}`]),
    `  ${message}`,
    `  remedy: ${remedy}`,
    paint('dim', `  ${link}`),
    '',
  ];
}

function summary({ findings, workloads, suppressed }: Judgement, paint: Paint): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const advice = findings.length - errors;
  const counts = [
    count(errors, 'error', 'errors'),
    ...(advice > 0 ? [`${String(advice)} advice`] : []),
    ...(suppressed.length > 0 ? [`${String(suppressed.length)} suppressed`] : []),
  ];
  return paint(
    findings.length === 0 ? 'green' : errors > 0 ? 'red' : 'yellow',
    `${counts.join(', ')} in ${count(workloads, 'workload', 'workloads')}`,
  );
}

function count(number: number, one: string, more: string): string {
  return `${number === 0 ? 'no' : String(number)} ${number === 1 ? one : more}`;
}

function json(judgement: Judgement): string {
  // JSON.stringify omits undefined, so write an absent field as null.
  return JSON.stringify(judgement, (key, value: unknown) => (key === 'value' && value === undefined ? null : value), 2);
}

// Formats the findings as workflow commands of GitHub Actions, which show each finding at its line of the file.
function github({ findings }: Judgement): string {
  return findings
    .map(({ severity, file, line, rule, path, message, remedy, link }) => {
      const command = severity === 'error' ? 'error' : 'warning';
      const properties = `file=${property(file)},line=${String(line)},title=${property(`lameduck lint: ${rule}`)}`;
      return `::${command} ${properties}::${data([path, message, remedy, link].filter(Boolean).join('\n'))}`;
    })
    .join('\n');
}

function data(value: string): string {
  return value.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(value: string): string {
  return data(value).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
