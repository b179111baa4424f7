// Delays the changes that the kube-proxies of the cluster make on their nodes.
//
//   CLUSTER_PROXY_LAG  optional: a command that gets the arguments S and N, two numbers of seconds. For N seconds, the
//                      command makes every kube-proxy apply its changes only once every S seconds. The arguments `0 0`
//                      end this delay
import { run } from '../../support/command-line.ts';

const { CLUSTER_PROXY_LAG: proxyLag } = process.env;

/** How fast each kube-proxy of the cluster applies a change of the endpoints of a Service. */
export type KubeProxy = 'prompt' | 'slow';

/**
 * The kube-proxy speeds with which the tests run. `slow` needs the command in CLUSTER_PROXY_LAG, which slows every
 * kube-proxy down.
 */
export const kubeProxies: readonly KubeProxy[] = proxyLag ? ['prompt', 'slow'] : ['prompt'];

/**
 * How many seconds late a slow kube-proxy applies a change of the endpoints of a Service, as in a large cluster. The
 * chart's shutdown delay of 10 s must be longer.
 */
const slowLag = 3;

/**
 * setKubeProxies sets the speed of all kube-proxies in the cluster. With `prompt`, each kube-proxy applies an endpoint
 * change immediately. With `slow`, it applies an endpoint change up to `slowLag` seconds late, until `duration` seconds
 * have passed.
 */
export function setKubeProxies(kubeProxy: KubeProxy, duration: number): Promise<void> {
  return kubeProxy === 'slow' ? lagKubeProxies(slowLag, duration) : lagKubeProxies(0, 0);
}

/**
 * For the next `duration` seconds, makes every kube-proxy apply changes only once every `interval` seconds. With 0 for
 * both arguments, every kube-proxy applies changes promptly again.
 */
export async function lagKubeProxies(interval: number, duration: number): Promise<void> {
  if (proxyLag) await run(proxyLag, String(interval), String(duration));
}
