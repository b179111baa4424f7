// Scrapes every pod that matches a label selector four times per second, from when the pod has an IP address until it
// is deleted. Writes each successful scrape as one line of JSON. This program runs in a pod, as Prometheus does, and
// learns of the pods from the API server.
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { get as getSecurely } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** One successful scrape. The program writes it as one line of its output. */
export interface Scrape {
  readonly pod: string;
  readonly at: number;
  readonly isShuttingDown: boolean;
  /** The number of requests answered since the shutdown began. */
  readonly answered: number;
}

interface Watched {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string }; readonly status: { readonly podIP?: string } };
}

const probePort = 8081;
const interval = 250;
// The default `scrape_timeout` of Prometheus, in milliseconds.
const answerLimit = 10_000;
const secrets = '/var/run/secrets/kubernetes.io/serviceaccount';
const secret = (name: string) => readFileSync(`${secrets}/${name}`, 'utf8');
const agent = new Agent({ keepAlive: true });
const pods = new Set<string>();

/**
 * Requests the metrics of a pod. Resolves with the response body if the status is 200. Otherwise the scrape has failed,
 * and the promise resolves with undefined.
 */
async function ask(host: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const options = { host, port: probePort, path: '/metrics', agent, signal: AbortSignal.timeout(answerLimit) };
  get(options, (response) => {
    text(response).then(
      (body) => {
        resolve(response.statusCode === 200 ? body : undefined);
      },
      () => {
        resolve(undefined);
      },
    );
  }).on('error', () => {
    resolve(undefined);
  });
  return promise;
}

async function follow(pod: string, address: string): Promise<void> {
  while (pods.has(pod)) {
    const at = Date.now();
    const metrics = await ask(address);
    if (metrics !== undefined) console.log(JSON.stringify({ pod, at, ...readingOf(metrics) } satisfies Scrape));
    await pause(Math.max(0, at + interval - Date.now()));
  }
}

function readingOf(metrics: string): Pick<Scrape, 'isShuttingDown' | 'answered'> {
  return {
    isShuttingDown: /^lameduck_lifecycle_signal\{signal="ShutdownInitiated"\} 1$/m.test(metrics),
    answered: Number(/^lameduck_shutdown_requests_total\{outcome="answered"\} (\d+)$/m.exec(metrics)?.[1] ?? 0),
  };
}

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const [selector = ''] = process.argv.slice(2);
const path = `/api/v1/namespaces/${secret('namespace')}/pods?watch=1&labelSelector=${encodeURIComponent(selector)}`;
const headers = { Authorization: `Bearer ${secret('token')}` };
getSecurely({ host, port, path, headers, ca: secret('ca.crt') }, (response) => {
  if (response.statusCode !== 200) throw new Error(`the API server answers ${String(response.statusCode)}`);
  createInterface({ input: response }).on('line', (line) => {
    const { type, object } = JSON.parse(line) as Watched;
    const { name } = object.metadata;
    if (type === 'DELETED') pods.delete(name);
    else if (object.status.podIP !== undefined && !pods.has(name)) {
      pods.add(name);
      void follow(name, object.status.podIP);
    }
  });
});
