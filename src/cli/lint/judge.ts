// Applies all lint rules to the manifests. No side effects.
import { fieldAt, object, pathText } from '../manifest/fields.ts';
import type { Manifest, ManifestObject, Place } from '../manifest/objects.ts';
import { podTemplateOf } from '../manifest/pod-template.ts';
import { takeInventory } from './inventory.ts';
import { coreKinds } from '../manifest/kinds.ts';
import type { Severity } from './rule.ts';
import { lintRules } from './rules.ts';

/** Finding is one violation of a lint rule, at one place in a manifest. */
export interface Finding extends Place {
  readonly rule: string;
  readonly severity: Severity;
  /** `object` identifies the Kubernetes object. It is undefined if the finding is about text that is not an object. */
  readonly object: { readonly kind: string; readonly namespace: string; readonly name: string } | undefined;
  readonly path: string;
  /** `value` is the value of the field. It is undefined if the field is absent. */
  readonly value: unknown;
  readonly message: string;
  readonly remedy: string;
  /** `link` points to the section of the rule in docs/lint.md. */
  readonly link: string;
}

/** Suppressed is a finding that an annotation suppresses, with the reason. */
export interface Suppressed extends Finding {
  readonly reason: string;
}

/** Skipped is an object that no lint rule judges, because its kind is unknown. */
export interface Skipped extends Place {
  readonly reason: string;
}

/** Judgement is the result of a lint. `--format json` prints it. */
export interface Judgement {
  readonly schema: 'lameduck/lint/v1';
  readonly workloads: number;
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Suppressed[];
  readonly skipped: readonly Skipped[];
}

/**
 * An annotation whose name begins with ignorePrefix suppresses the findings of one rule in its object. The rest of the
 * annotation's name is the name of this rule.
 */
export const ignorePrefix = 'lameduck/ignore-';

/**
 * `judge()` returns the findings, sorted by file and line. Findings with the severity `advice` are included only if
 * `wantsAdvice` is true. Rules about one version of Kubernetes apply only if `kubernetesMinor` is set.
 */
export function judge(manifests: readonly Manifest[], wantsAdvice: boolean, kubernetesMinor?: number): Judgement {
  const all = manifests.flatMap(({ objects }) => objects);
  const inventory = takeInventory(all, kubernetesMinor);
  const severities: readonly Severity[] = wantsAdvice ? ['error', 'advice'] : ['error'];
  const findings: Finding[] = manifests.flatMap(({ unreadable }) => unreadable.map(unreadableFinding));
  const suppressed: Suppressed[] = [];
  for (const { name, severity, find } of lintRules) {
    for (const { object: one, path, message, remedy } of find(inventory)) {
      const { kind, namespace, name: objectName, file } = one;
      const finding: Finding = {
        rule: name,
        severity,
        file,
        line: one.lineOf(path),
        object: { kind, namespace, name: objectName },
        path: pathText(path),
        value: fieldAt(one.fields, path),
        message,
        remedy,
        link: linkTo(name),
      };
      const reason = annotationsOf(one)[`${ignorePrefix}${name}`];
      if (typeof reason === 'string' && reason.trim() !== '') suppressed.push({ ...finding, reason });
      else findings.push(finding);
    }
  }
  findings.push(...all.flatMap(badSuppressions));
  return {
    schema: 'lameduck/lint/v1',
    workloads: inventory.workloads.length,
    findings: findings.filter(({ severity }) => severities.includes(severity)).sort(byPlace),
    suppressed: suppressed.filter(({ severity }) => severities.includes(severity)).sort(byPlace),
    skipped: all
      .filter(({ kind }) => !coreKinds.has(kind))
      .map(({ file, line, kind, name }) => ({
        file,
        line,
        reason: `${kind} ${name} is not judged: lint has no rules for this kind`,
      })),
  };
}

function linkTo(rule: string): string {
  return `docs/lint.md#${rule}`;
}

/** annotationsOf returns the annotations of an object and of its pod template. */
function annotationsOf(one: ManifestObject): Readonly<Record<string, unknown>> {
  const ofPods = object(podTemplateOf(one)?.fields['metadata'])['annotations'];
  return { ...object(ofPods), ...object(object(one.fields['metadata'])['annotations']) };
}

function unreadableFinding({ file, line, reason, isUsed }: Manifest['unreadable'][number]): Finding {
  const rule = isUsed ? 'duplicate-key' : 'unreadable';
  return {
    rule,
    severity: isUsed ? 'advice' : 'error',
    file,
    line,
    object: undefined,
    path: '',
    value: undefined,
    message: sentence(reason),
    remedy: 'Correct this YAML document. Lint has judged the other documents of the file.',
    link: linkTo(rule),
  };
}

// Reports each annotation that should suppress a finding but cannot, because it has no reason or because its rule does
// not exist.
function badSuppressions(one: ManifestObject): Finding[] {
  return Object.entries(annotationsOf(one)).flatMap(([annotation, reason]) => {
    if (!annotation.startsWith(ignorePrefix)) return [];
    const rule = annotation.slice(ignorePrefix.length);
    const isRule = lintRules.some(({ name }) => name === rule);
    if (isRule && typeof reason === 'string' && reason.trim() !== '') return [];
    const { kind, namespace, name, file } = one;
    const inTemplate = [...(podTemplateOf(one)?.path ?? []), 'metadata', 'annotations', annotation];
    const path =
      [['metadata', 'annotations', annotation], inTemplate].find(
        (candidate) => fieldAt(one.fields, candidate) !== undefined,
      ) ?? [];
    return [
      {
        rule: 'bad-suppression',
        severity: 'error',
        file,
        line: one.lineOf(path),
        object: { kind, namespace, name },
        path: pathText(path),
        value: reason,
        link: linkTo('bad-suppression'),
        message: isRule
          ? 'The annotation names a rule but has no reason, so it has no effect: lint still reports the findings of this rule.'
          : `There is no rule ${rule}.`,
        remedy: isRule
          ? 'Write the reason for the suppression as the value of the annotation.'
          : 'Correct the rule name in the annotation, or remove the annotation.',
      },
    ];
  });
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function byPlace(a: Place, b: Place): number {
  return a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line;
}
