// `lameduck restarts`: says which pods and containers an apply or a kubelet upgrade restarts.
import { standardError, standardOutput, writeOut } from '../../standard-output.ts';
import { say } from '../command.ts';
import { valueText } from '../manifest/fields.ts';
import { readManifests } from '../manifest/files.ts';
import { coreKinds } from '../manifest/kinds.ts';
import type { ManifestObject, Place, Unreadable } from '../manifest/objects.ts';
import { optionLines, readArguments, refuse } from '../options.ts';
import { paint } from '../paint.ts';
import { effectsOf, isRestart, type Cause, type Effect } from './effects.ts';
import { readUpgrade, upgradeEffects } from './kubelet-upgrade.ts';

const nothingRestarts = 0;
const restartsSomething = 1;

const options = {
  'kubelet-version': {
    type: 'string',
    value: '1.30..1.31',
    help: 'show which containers restart if the kubelet is upgraded from the first version to the second; takes one FILE instead of two',
  },
  format: { type: 'string', value: 'text|json', help: 'the format of the printed result; default: text' },
  help: { type: 'boolean', help: 'print this text' },
} as const;

const usage = [
  'Examples:',
  '  lameduck restarts old.yaml new.yaml',
  '  helm template shop ./chart | lameduck restarts deployed.yaml -',
  '  lameduck restarts deployment.yaml --kubelet-version 1.30..1.31',
  '',
  'Compares two manifest files. For each object, the command prints whether the change replaces pods or restarts containers.',
  'The command also prints each changed field that causes a replacement or a restart. A field that is absent has its default value.',
  'Exit code: 0 for no restart; 1 for a restart, a rejected change or an unreadable file; 2 for invalid usage.',
  '',
  'Options:',
  ...optionLines(options),
].join('\n');

/**
 * `restarts()` resolves with exit code 0 if nothing restarts. It resolves with 1 for a restart, a rejected change or an
 * unreadable file, and with 2 for invalid usage.
 */
export async function restarts(args: readonly string[]): Promise<number> {
  const parsed = readArguments(args, options);
  if ('problem' in parsed) return refuse('restarts', parsed.problem);
  const { values, positionals } = parsed;
  if (values['help'] === true) {
    say(standardOutput, usage);
    return nothingRestarts;
  }
  const { format = 'text', 'kubelet-version': given } = values;
  if (format !== 'text' && format !== 'json') {
    return refuse('restarts', `--format must be text or json, got ${JSON.stringify(format)}`);
  }
  const upgrade = typeof given === 'string' ? readUpgrade(given) : undefined;
  if (given !== undefined && upgrade === undefined) {
    return refuse(
      'restarts',
      `--kubelet-version must be two versions such as 1.30..1.31, got ${JSON.stringify(given)}`,
    );
  }
  if (upgrade === undefined && positionals.length !== 2)
    return refuse('restarts', 'expected two files: the old manifest and the new manifest');
  if (upgrade !== undefined && positionals.length !== 1)
    return refuse('restarts', '--kubelet-version requires exactly one file');
  const { manifests, problems } = await readManifests(positionals);
  if (problems.length > 0) return refuse('restarts', problems.join('; '));
  const [before, after = before] = manifests;
  const effects =
    upgrade === undefined
      ? effectsOf(before?.objects ?? [], after?.objects ?? [])
      : upgradeEffects(before?.objects ?? [], upgrade);
  const unreadable = manifests.flatMap((manifest) => manifest.unreadable);
  const skipped = unknownIn(after?.objects ?? []);
  writeOut(standardOutput, `${format === 'json' ? jsonOf(effects, unreadable, skipped) : textOf(effects)}\n`);
  if (format === 'text') {
    for (const { file, line, reason } of [...unreadable, ...skipped])
      say(standardError, `${file}:${String(line)}: ${reason}`);
  }
  return effects.some(isRestart) || unreadable.some(({ isUsed }) => !isUsed) ? restartsSomething : nothingRestarts;
}

/**
 * Skipped is a manifest object of a kind that `lameduck restarts` does not know. A skipped object may run pods, so the
 * output names it.
 */
interface Skipped extends Place {
  readonly reason: string;
}

function unknownIn(all: readonly ManifestObject[]): Skipped[] {
  return all
    .filter(({ kind }) => !coreKinds.has(kind))
    .map(({ file, line, kind, name }) => ({
      file,
      line,
      reason: `${kind} ${name} is skipped, because the command "lameduck restarts" does not know objects of the kind ${kind}`,
    }));
}

function jsonOf(objects: readonly Effect[], unreadable: readonly Unreadable[], skipped: readonly Skipped[]): string {
  const result = { schema: 'lameduck/restarts/v1', objects, unreadable, skipped };
  // JSON.stringify omits undefined, so write an absent field as null.
  return JSON.stringify(
    result,
    (key, value: unknown) => (value === undefined && ['before', 'after', 'hint'].includes(key) ? null : value),
    2,
  );
}

function textOf(effects: readonly Effect[]): string {
  const restarting = effects.filter(isRestart).length;
  return [
    ...effects.flatMap((one) => [
      paint(isRestart(one) ? 'yellow' : 'green', `${one.kind} ${one.name}: ${one.effect}`),
      `  ${one.message}`,
      ...one.causes.flatMap(causeLines),
      '',
    ]),
    `objects whose containers restart or whose change is rejected: ${String(restarting)} of ${String(effects.length)}`,
  ].join('\n');
}

function causeLines({ file, line, path, before, after, hint }: Cause): string[] {
  const values =
    before === undefined && after === undefined ? '' : `: ${valueText(before, 60)} → ${valueText(after, 60)}`;
  return [`  ${file}:${String(line)}  ${path}${values}`, ...(hint === undefined ? [] : [`    ${hint}`])];
}
