// The type of a pair of manifests for `lameduck restarts`, and a function that makes such pairs by changing one
// manifest.
import type { EffectKind } from '../../src/cli/restarts/effects.ts';

/** RestartPair is a pair of manifests, with the effect of applying the second manifest over the first. */
export interface RestartPair {
  readonly title: string;
  readonly before: string;
  readonly after: string;
  readonly effect: EffectKind;
  /** The changed fields that cause the effect of the second manifest. */
  readonly causes: readonly string[];
}

/** image is the image of the containers in the manifests. */
export const image = 'shop:1';

/**
 * pairsNamespace stands for the namespace in which a manifest is applied. The cluster suite replaces it by the name of its
 * own namespace.
 */
export const pairsNamespace = 'the-namespace';

/** deployment is the manifest of a Deployment. Each pair of manifests has it before and after one change. */
export const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  labels: { app: shop }
spec:
  replicas: 2
  selector:
    matchLabels: { app: shop }
  template:
    metadata:
      labels: { app: shop }
    spec:
      containers:
        - name: shop
          image: ${image}
          env:
            - { name: A, value: "1" }
            - { name: B, value: "2" }
          ports:
            - containerPort: 8080
          resources:
            requests: { cpu: 500m, memory: 1Gi }
          readinessProbe:
            httpGet: { port: 8080 }
      volumes:
        - name: files
          configMap: { name: shop }
`;

/** Row is one change of a manifest. */
export type Row = readonly [title: string, from: string, to: string, effect: EffectKind, causes?: readonly string[]];

/**
 * rows returns a pair of manifests for each change: the given manifest, and the changed one. A change replaces the text
 * `from` by the text `to`.
 */
export function rows(manifest: string, changes: readonly Row[]): RestartPair[] {
  return changes.map(([title, from, to, effect, causes = []]) => {
    const after = manifest.replace(from, to);
    if (after === manifest) throw new Error(`${title}: nothing is replaced`);
    return { title, before: manifest, after, effect, causes };
  });
}
