// Runs the lint rules on a manifest in memory, and includes their advice.
import { judge, type Finding } from '../../../src/cli/lint/judge.ts';
import { readObjects } from '../../../src/cli/manifest/objects.ts';

export function findingsIn(manifest: string, kubernetesMinor?: number): readonly Finding[] {
  return judge([readObjects(manifest, 'example.yaml')], true, kubernetesMinor).findings;
}
