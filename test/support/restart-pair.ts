// The type of a test case of `lameduck restarts`, which has an old and a new manifest, and a function that creates test
// cases.
import type { EffectKind } from '../../src/cli/restarts/effects.ts';

/** RestartPair is an old and a new manifest, and the effect on the pods if the new manifest replaces the old one. */
export interface RestartPair {
  readonly title: string;
  readonly before: string;
  readonly after: string;
  readonly effect: EffectKind;
  /** The fields of the manifest that cause `effect`, because the new manifest has other values for them. */
  readonly causes: readonly string[];
}

/** `image` is the container image in the manifests of these tests. */
export const image = 'shop:1';

/**
 * pairsNamespace stands for the namespace in which a manifest is applied. The cluster suite replaces it by the name of its
 * own namespace.
 */
export const pairsNamespace = 'the-namespace';

/**
 * `deployment` is the manifest of a Deployment. Many test cases of `lameduck restarts` use it as the old manifest. The
 * new manifest of such a test case is a copy of `deployment`, edited in one place.
 */
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

/** Row describes one change of an old manifest: the replaced text, the new text, and the effect on the pods. */
export type Row = readonly [title: string, from: string, to: string, effect: EffectKind, causes?: readonly string[]];

/**
 * `rows()` returns one pair of manifests for each change. The old manifest of each pair is `manifest`. In the new
 * manifest, the text `to` of the change replaces the text `from`.
 */
export function rows(manifest: string, changes: readonly Row[]): RestartPair[] {
  return changes.map(([title, from, to, effect, causes = []]) => {
    const after = manifest.replace(from, to);
    if (after === manifest) throw new Error(`${title}: nothing is replaced`);
    return { title, before: manifest, after, effect, causes };
  });
}
