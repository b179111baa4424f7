// `lameduck lint`: judges manifests by the rules of docs/lint.md.
import { standardOutput, writeOut } from '../../standard-output.ts';
import { say } from '../command.ts';
import { minorVersionOf } from '../kubernetes-version.ts';
import { readManifests, standardInputName } from '../manifest/files.ts';
import { optionLines, readArguments, refuse } from '../options.ts';
import { paint } from '../paint.ts';
import { formats, type Format } from './formats.ts';
import { ignorePrefix, judge } from './judge.ts';

const clean = 0;
const found = 1;

const options = {
  format: {
    type: 'string',
    value: Object.keys(formats).join('|'),
    help: 'the format of the printed findings; default: text',
  },
  advice: { type: 'boolean', help: 'also report risky settings, which lose requests only together with another fault' },
  'kubernetes-version': {
    type: 'string',
    value: '1.29',
    help: 'the Kubernetes version of the cluster, from which lint knows whether the cluster supports preStop.sleep',
  },
  help: { type: 'boolean', help: 'print this text' },
} as const;

const usage = [
  'Examples:',
  '  lameduck lint deployment.yaml service.yaml',
  '  helm template shop ./chart | lameduck lint',
  '  kustomize build overlays/prod | lameduck lint --advice -',
  '  lameduck lint --format github rendered/*.yaml',
  '  lameduck lint --kubernetes-version 1.29 deployment.yaml',
  '',
  'Finds settings that lose requests in Deployments, StatefulSets, DaemonSets, Jobs, CronJobs and Pods.',
  'The programs in the pods may be written in any language.',
  'Pass Services, Ingresses and PodDisruptionBudgets too: some rules need them.',
  `The annotation ${ignorePrefix}RULE, with a reason as its value, suppresses the findings of RULE in its object.`,
  'Exit code: 0 no findings, 1 findings, 2 invalid usage, a file that cannot be read, or no object to judge.',
  '',
  'Options:',
  ...optionLines(options),
].join('\n');

/**
 * `lint()` resolves with exit code 0 if there are no findings, and with 1 if there are findings. It resolves with 2 for
 * invalid usage, if a file cannot be read, or if there is no object to judge.
 */
export async function lint(args: readonly string[]): Promise<number> {
  const parsed = readArguments(args, options);
  if ('problem' in parsed) return refuse('lint', parsed.problem);
  const { values, positionals } = parsed;
  if (values['help'] === true) {
    say(standardOutput, usage);
    return clean;
  }
  const format = formatOf(values['format']);
  if (typeof format === 'string') return refuse('lint', format);
  const { 'kubernetes-version': version } = values;
  const minor = typeof version === 'string' ? minorVersionOf(version) : undefined;
  if (version !== undefined && minor === undefined) {
    return refuse('lint', `--kubernetes-version must be a version such as 1.29, got ${JSON.stringify(version)}`);
  }
  if (positionals.length === 0 && process.stdin.isTTY)
    return refuse('lint', 'expected a FILE, or a manifest on standard input');
  const files = positionals.length === 0 ? [standardInputName] : positionals;
  const { manifests, problems } = await readManifests(files);
  const judgement = judge(manifests, values['advice'] === true, minor);
  const isEmpty = manifests.every(({ objects, unreadable }) => objects.length + unreadable.length === 0);
  const printed = isEmpty ? '' : format(judgement, paint);
  if (printed !== '') writeOut(standardOutput, `${printed}\n`);
  if (problems.length > 0) return refuse('lint', problems.join('; '));
  // An empty input usually means that the command that writes it has failed, such as helm template.
  if (isEmpty) {
    const names = files.map((file) => (file === standardInputName ? 'standard input' : file)).join(', ');
    return refuse('lint', `nothing was judged, because there is no Kubernetes object in ${names}`);
  }
  return judgement.findings.length === 0 ? clean : found;
}

function formatOf(name: unknown = 'text'): Format | string {
  const known = typeof name === 'string' && Object.hasOwn(formats, name);
  if (known) return formats[name as keyof typeof formats];
  return `--format must be one of ${Object.keys(formats).join(', ')}, got ${JSON.stringify(name)}`;
}
