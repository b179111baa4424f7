// Runs a program in a pod that scrapes some releases, and reads the results from its log.
import { referenceImage } from './images.ts';
import { instanceLabel, type Namespace } from './kubernetes.ts';
import { programPod } from './program-pods.ts';
import type { Scrape } from './programs/scrapes.ts';

const name = 'scraper';

/** Scraper holds the successful scrapes of each pod, by the pod's name. */
export class Scraper {
  readonly pods = new Map<string, Scrape[]>();
  /** Log lines of the scraping program that report no scrape. If there are any, the scrapes may be wrong. */
  readonly warnings: string[] = [];

  /** Starts to scrape the current and future pods of these releases. */
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
