// Starts a pod that scrapes the metrics of the pods of given Helm releases, and reads the results from the log of that
// pod.
import { referenceImage } from './images.ts';
import { instanceLabel, type Namespace } from './kubernetes.ts';
import { programPod } from './program-pods.ts';
import type { Scrape } from './programs/scrapes.ts';

const name = 'scraper';

/** Scraper maps the name of each pod to the successful scrapes of that pod. */
export class Scraper {
  readonly pods = new Map<string, Scrape[]>();
  /**
   * Lines that the scraping pod logged in addition to its scrapes, such as errors. If there are any, scrapes may be
   * missing.
   */
  readonly warnings: string[] = [];

  /**
   * Starts to scrape the pods of the Helm releases with the names in `instances`, also the pods that are created later.
   */
  static async start(namespace: Namespace, instances: readonly string[]): Promise<Scraper> {
    const scraper = new Scraper();
    namespace.on('line', ({ pod }, line) => {
      if (pod === name) scraper.#take(line);
    });
    for (const object of objectsFor(namespace.name, `${instanceLabel} in (${instances.join(', ')})`)) {
      await namespace.add(object);
    }
    return scraper;
  }

  #take(line: string): void {
    if (!line.startsWith('{')) return void this.warnings.push(line);
    const scrape = JSON.parse(line) as Scrape;
    const its = this.pods.get(scrape.pod);
    if (its) its.push(scrape);
    else this.pods.set(scrape.pod, [scrape]);
  }
}

/** The pod of the scraper, and the permissions with which it lists other pods. */
function objectsFor(namespace: string, selector: string): object[] {
  const authorization = 'rbac.authorization.k8s.io';
  const metadata = { name };
  const command = ['/nodejs/bin/node', '/app/programs/scrapes.ts', selector];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: `${authorization}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['watch'] }],
    },
    {
      apiVersion: `${authorization}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: authorization, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    programPod(
      name,
      { image: referenceImage, command, cpu: '100m' },
      { serviceAccountName: name, terminationGracePeriodSeconds: 1 },
    ),
  ];
}
