// Runs the rules of `lameduck lint` on a manifest that is given as text. The returned findings include advice.
import { judge, type Finding } from '../../../src/cli/lint/judge.ts';
import { readObjects } from '../../../src/cli/manifest/objects.ts';

export function findingsIn(manifest: string, kubernetesMinor?: number): readonly Finding[] {
  return judge([readObjects(manifest, 'example.yaml')], true, kubernetesMinor).findings;
}
