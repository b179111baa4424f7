// Chooses the port to which the rehearsal sends requests. No side effects.
import { isObject, object, objects, type Fields } from '../manifest/fields.ts';
import type { Environment } from '../../settings/environment.ts';
import type { PodSpec } from './pod.ts';

/** ServedPod contains what a manifest declares about the ports of a pod. */
export interface ServedPod {
  /** `services` lists the Services of the manifest. */
  readonly services: readonly Fields[];
  readonly labels: Fields;
  /**
   * `containers` lists the containers that the rehearsal runs. The clients send their requests to the first container
   * in this list.
   */
  readonly containers: readonly Fields[];
  /** `skipped` lists the containers that the rehearsal does not run, so nothing listens on their ports. */
  readonly skipped: readonly Fields[];
}

/**
 * loadPort returns the port to which requests are sent. It returns undefined if the port is not known. The rehearsal
 * then uses the first port on which the container listens.
 */
export function loadPort(
  given: number | undefined,
  { containers, servicePort }: Pick<PodSpec, 'containers' | 'servicePort'>,
  { PORT }: Environment,
): number | undefined {
  const own = containers.find(({ isSidecar }) => !isSidecar)?.env['PORT'];
  return given ?? portIn(own) ?? portIn(PORT) ?? servicePort;
}

/**
 * servicePortOf returns the target port of the pod's Service. Without a Service, it returns the container port named
 * `http`, or else the first container port.
 */
export function servicePortOf({ services, labels, containers, skipped }: ServedPod): number | undefined {
  const service = services.find(({ spec }) => selects(object(spec)['selector'], labels));
  const [target] = inOrder(object(service?.['spec'])['ports']);
  const { port, targetPort = port } = target ?? {};
  const found = portIn(typeof targetPort === 'string' ? portsOf(containers, targetPort)[0] : targetPort);
  const [declared] = inOrder(containers[0]?.['ports']);
  return found === undefined || portsOf(skipped).includes(found) ? portIn(declared?.['containerPort']) : found;
}

// Returns the declared ports, with a port named `http` first.
function inOrder(ports: unknown): Fields[] {
  const all = objects(ports);
  return [...all.filter(({ name }) => name === 'http'), ...all];
}

function portsOf(containers: readonly Fields[], wanted?: string): unknown[] {
  return containers
    .flatMap((container) => objects(container['ports']))
    .filter(({ name }) => wanted === undefined || name === wanted)
    .map(({ containerPort }) => containerPort);
}

function selects(selector: unknown, labels: Fields): boolean {
  if (!isObject(selector)) return false;
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value);
}

function portIn(value: unknown): number | undefined {
  const port = /^[1-9]\d{0,4}$/.test(String(value)) ? Number(value) : 0;
  return port > 0 && port <= 65_535 ? port : undefined;
}
