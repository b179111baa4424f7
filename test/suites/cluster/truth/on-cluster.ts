// Runs one of the compared pods on a real cluster. Returns a record of what happened to the pod. The record comes from
// the logs of the containers, and from the status and the Kubernetes events of the pod.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Line } from '../programs/told-server.ts';
import { referenceImage } from '../images.ts';
import type { KubernetesEvent, Namespace, Pod, Run } from '../kubernetes.ts';
import type { Account } from './account.ts';
import type { Case, SpecContainer } from './pods.ts';
import { reportOfProbe } from './reports.ts';

const place = { node: '/nodejs/bin/node', program: '/app/programs/told-server.ts' };

const programs = { name: 'programs', mountPath: '/app/programs' };
const fill = { name: 'fill', mountPath: '/fill' };

// How long to wait until the kubelet has evicted a pod, in seconds. The kubelet measures the disk usage of pods only at
// intervals.
const longestEviction = 180;

/**
 * onCluster creates one of the compared pods in the namespace, and deletes it or waits for its eviction. Before the
 * call, addPrograms() must have stored the programs in the namespace.
 */
export async function onCluster(namespace: Namespace, one: Case): Promise<Account> {
  const { name, endsAfter, gracePeriodSeconds, isEvicted = false, isInPostStart = false } = one;
  const watched = new WatchedPod(namespace, name);
  await namespace.add(manifest(one));
  const hasStarted = () =>
    isInPostStart
      ? namespace.events.some(({ reason, involvedObject }) => reason === 'Started' && involvedObject.name === name)
      : watched.lines.length > 0;
  await namespace.until(`${name} has started`, 90, hasStarted);
  const runs = () => [...namespace.runs.values()].filter(({ pod }) => pod === name);
  const hasEnded = () => runs().every(({ exitCode, isLogComplete }) => exitCode !== undefined && isLogComplete);
  if (isEvicted) {
    await namespace.until(`${name} is evicted`, longestEviction, hasEnded);
    await namespace.kubectl('delete', 'pod', name, '--wait=false');
  } else {
    await sleep((watched.lines[0]?.at ?? Date.now()) + endsAfter * 1000 - Date.now());
    const grace = gracePeriodSeconds === undefined ? [] : [`--grace-period=${String(gracePeriodSeconds)}`];
    await namespace.kubectl('delete', 'pod', name, '--wait=false', ...grace);
    await namespace.until(`${name} is gone`, 90, () => watched.isGone && hasEnded());
  }
  return {
    lines: watched.lines,
    exits: runs().map(({ container, exitCode, exitReason }) => ({ container, code: exitCode, reason: exitReason })),
    reports: new Set(namespace.events.filter(({ involvedObject }) => involvedObject.name === name).flatMap(reportOf)),
    readiness: watched.readiness,
    deletedAt: isEvicted ? undefined : watched.deletedAt,
  };
}

/** WatchedPod collects the log and the watch events of one pod. */
class WatchedPod {
  readonly lines: Line[] = [];
  readonly readiness: { at: number; isReady: boolean }[] = [];
  deletedAt: number | undefined;
  isGone = false;
  readonly #name: string;

  constructor(namespace: Namespace, name: string) {
    this.#name = name;
    namespace.on('line', (run, line) => {
      this.#onLine(run, line);
    });
    namespace.on('change', () => {
      const pod = [...namespace.pods.values()].find(({ metadata }) => metadata.name === name);
      if (pod !== undefined) this.#onPod(pod);
      else if (this.deletedAt !== undefined) this.isGone = true;
    });
  }

  #onLine({ pod }: Run, line: string): void {
    // The last line of a process that was killed may be incomplete.
    if (pod === this.#name && /^\{.*\}$/.test(line)) this.lines.push(JSON.parse(line) as Line);
  }

  #onPod({ metadata, status }: Pod): void {
    const isReady = status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
    if (isReady !== (this.readiness.at(-1)?.isReady ?? false)) this.readiness.push({ at: Date.now(), isReady });
    if (metadata.deletionTimestamp !== undefined) this.deletedAt ??= Date.now();
  }
}

function manifest({ name, spec, isEvicted = false }: Case): object {
  const { initContainers = [], ...own } = spec(place);
  const complete = (container: SpecContainer) => ({
    ...container,
    image: referenceImage,
    imagePullPolicy: 'IfNotPresent',
    env: isEvicted ? [...container.env, { name: 'FILL', value: '8' }] : container.env,
    volumeMounts: isEvicted ? [programs, fill] : [programs],
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      ...own,
      initContainers: initContainers.map(complete),
      containers: own.containers.map(complete),
      volumes: [
        { name: programs.name, configMap: { name: 'programs' } },
        ...(isEvicted ? [{ name: fill.name, emptyDir: { sizeLimit: '1Mi' } }] : []),
      ],
    },
  };
}

function reportOf({ reason, message }: KubernetesEvent): string[] {
  if (reason === 'Killing') return [`Killing: ${message}`];
  if (reason === 'BackOff' || reason === 'FailedPreStopHook' || reason === 'ProbeWarning') return [reason];
  const [, type = '', how = ''] = /^(\w+) probe (failed|errored)/.exec(message) ?? [];
  return reason === 'Unhealthy' && type !== '' ? reportOfProbe(type, how, message) : [];
}
