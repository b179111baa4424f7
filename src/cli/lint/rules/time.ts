// Lint rules about the grace period: whether the delay, the preStop hook and the drain fit into it.
import type { Path } from '../../manifest/fields.ts';
import { acceptsConnections, ingressesOf, servicesOf, type Container, type Workload } from '../inventory.ts';
import { inContainers, inServers, inWorkloads, type Found, type Rule } from '../rule.ts';
import { durationVariable, lameduckMargin, preStopSleep, statedTime, statedVariable } from '../stated.ts';
import { loadBalancersOf } from './load-balancers.ts';

// The shortest time between the stop signal and SIGKILL, in seconds. The kubelet grants this time even if the preStop
// hook has used up the grace period (K-084).
const kubeletFloor = 2;

// The shortest time for the drain that the settings of lameduck may leave, in seconds (P-075).
const lameduckDrain = 1;

// The minor versions of Kubernetes that changed `preStop.sleep` (H-080). Version 1.29 knows the field but removes it,
// version 1.30 uses it, and version 1.33 allows 0 seconds.
const sleepIsKnown = 29;
const sleepIsOn = 30;
const sleepMayBeZero = 33;

// How long the Cluster Autoscaler waits for a pod to terminate, in seconds. It is the default of the flag
// `--max-graceful-termination-sec`.
const longestGracePeriod = 600;

const sleepPath: Path = ['lifecycle', 'preStop', 'sleep', 'seconds'];

const gracePath = ({ path }: Workload): Path => [...path, 'terminationGracePeriodSeconds'];

/** timeRules check the grace period and the shutdown delay. */
export const timeRules: readonly Rule[] = [
  {
    name: 'grace-period-zero',
    severity: 'error',
    find: inWorkloads((workload, inventory) =>
      workload.gracePeriodSeconds > 0 || workload.isJob || !acceptsConnections(workload, inventory)
        ? []
        : [
            {
              path: gracePath(workload),
              message: 'The pod is killed without a stop signal, so every request in flight is lost.',
              remedy:
                'Set terminationGracePeriodSeconds to the duration of the preStop hook, plus the longest request, plus a margin of some seconds.',
            },
          ],
    ),
  },
  {
    name: 'pre-stop-fills-grace-period',
    severity: 'error',
    find: inServers((container, { gracePeriodSeconds: grace }) => {
      const sleep = preStopSleep(container);
      if (sleep === undefined || grace === 0 || sleep.seconds < grace - kubeletFloor) return [];
      return [
        {
          path: sleep.path,
          message: `The preStop hook sleeps for ${s(sleep.seconds)} of a grace period of ${s(grace)}. The process gets at most ${s(kubeletFloor)} between the stop signal and SIGKILL.`,
          remedy: `Set terminationGracePeriodSeconds to ${s(sleep.seconds)} for the preStop hook, plus the longest request, plus a margin of some seconds.`,
        },
      ];
    }),
  },
  {
    name: 'dropped-pre-stop-sleep',
    severity: 'error',
    find: inServers((container, _workload, { kubernetesMinor }) => {
      const { preStop } = container.spec;
      const hasDelay = (statedTime(container, 'delay')?.seconds ?? 0) > 0;
      if (preStop?.kind !== 'sleep' || preStop.seconds === 0 || hasDelay || kubernetesMinor !== sleepIsKnown) return [];
      return [
        {
          path: sleepPath,
          message: `Kubernetes ${version(sleepIsKnown)} removes the field preStop.sleep without an error, so the process gets the stop signal at once.`,
          remedy: `Upgrade to Kubernetes ${version(sleepIsOn)}, or run the command sleep ${String(preStop.seconds)} in preStop.exec.`,
        },
      ];
    }),
  },
  {
    name: 'rejected-pre-stop-sleep',
    severity: 'advice',
    find: inContainers(({ spec: { preStop } }, _workload, { kubernetesMinor: minor }) => {
      if (preStop?.kind !== 'sleep' || minor === undefined || minor === sleepIsKnown) return [];
      const needed = preStop.seconds === 0 ? sleepMayBeZero : sleepIsOn;
      if (minor >= needed) return [];
      return [
        {
          path: sleepPath,
          message: `The API server of Kubernetes ${version(minor)} rejects the pod: ${minor < sleepIsKnown ? 'this version does not know preStop.sleep' : 'in this version, the seconds of preStop.sleep must be greater than 0'}.`,
          remedy: `Upgrade to Kubernetes ${version(needed)}, or ${preStop.seconds === 0 ? 'remove the preStop hook, which does nothing' : 'use preStop.exec'}.`,
        },
      ];
    }),
  },
  {
    name: 'drain-exceeds-grace-period',
    severity: 'error',
    find: inServers((container, { gracePeriodSeconds: grace }) => {
      const parts = [preStopSleep(container), statedTime(container, 'delay'), statedTime(container, 'drain')];
      const stated = parts.filter((part) => part !== undefined && part.seconds > 0);
      const [last] = stated.slice(-1);
      const sum = stated.reduce((total, part) => total + (part?.seconds ?? 0), 0);
      // If the preStop hook alone fills the grace period, only the rule `pre-stop-fills-grace-period` reports this
      // hook.
      if (last === undefined || last.name === 'preStop' || sum <= grace || grace === 0) return [];
      const terms = stated.map((part) => `${part?.name ?? ''} ${s(part?.seconds ?? 0)}`).join(' + ');
      return [
        {
          path: last.path,
          message: `The kubelet sends SIGKILL before the program has finished its requests: ${terms} = ${s(sum)}, but the grace period is ${s(grace)}.`,
          remedy: `Set terminationGracePeriodSeconds to at least ${s(Math.ceil(sum) + kubeletFloor)}, or shorten the durations of this sum: ${terms}.`,
        },
      ];
    }),
  },
  {
    name: 'wrong-grace-period',
    severity: 'error',
    find: inServers((container, { gracePeriodSeconds: grace }) => [
      ...checkVariable(container, 'LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS', (value) =>
        value > grace
          ? `The program plans with a grace period of ${s(value)}, but the pod has ${s(grace)}: the kubelet sends SIGKILL before the drain ends.`
          : undefined,
      ),
      ...checkVariable(container, 'LAMEDUCK_PRE_STOP_SECONDS', (value) => {
        const sleep = preStopSleep(container);
        return sleep !== undefined && sleep.seconds > value
          ? `The program plans with a preStop hook of ${s(value)}, but the hook sleeps for ${s(sleep.seconds)}: the kubelet sends SIGKILL before the drain ends.`
          : undefined;
      }),
      ...budgetTooShort(container, grace),
    ]),
  },
  {
    name: 'zero-delay',
    severity: 'error',
    find: inServers((container, workload, inventory) => {
      const delay = statedTime(container, 'delay');
      const [service] = servicesOf(workload, inventory);
      if (delay?.seconds !== 0 || container.spec.preStop !== undefined || service === undefined) return [];
      return [
        {
          path: delay.path,
          message: `The program stops accepting connections at the stop signal, while the nodes still send connections of Service ${service.name} to it.`,
          remedy: 'Set a shutdown delay of 10 s, or give the container a preStop sleep.',
        },
      ];
    }),
  },
  {
    name: 'two-delays',
    severity: 'advice',
    find: inServers((container) => {
      const sleep = preStopSleep(container);
      const delay = statedTime(container, 'delay');
      if (sleep === undefined || delay === undefined || sleep.seconds === 0 || delay.seconds === 0) return [];
      return [
        {
          path: sleep.path,
          message: `The preStop hook waits ${s(sleep.seconds)}, and then the shutdown delay (${delay.name}) takes another ${s(delay.seconds)}. The grace period must cover both times.`,
          remedy: 'Remove the preStop hook: only the program can make its clients disconnect during the delay.',
        },
      ];
    }),
  },
  {
    name: 'no-delay',
    severity: 'advice',
    find: inServers((container, workload, inventory) => {
      const [service] = servicesOf(workload, inventory);
      const states = container.spec.preStop !== undefined || statedTime(container, 'delay') !== undefined;
      if (states || service === undefined || container.spec.ports.length === 0) return [];
      return [
        {
          path: ['lifecycle', 'preStop'],
          message: `The manifest shows no delay between SIGTERM and the moment when the container stops accepting connections of Service ${service.name}.`,
          remedy:
            'If the program stops accepting connections immediately after SIGTERM, give the container a preStop sleep of 10 s.',
        },
      ];
    }),
  },
  {
    name: 'long-grace-period',
    severity: 'advice',
    find: inWorkloads((workload) =>
      workload.gracePeriodSeconds <= longestGracePeriod
        ? []
        : [
            {
              path: gracePath(workload),
              message: `The grace period is longer than ${s(longestGracePeriod)}. A cluster autoscaler, a spot instance and a node shutdown wait for a shorter time.`,
              remedy: `Keep the grace period at ${s(longestGracePeriod)} or less, and let the program save the progress of work that takes longer.`,
            },
          ],
    ),
  },
  {
    name: 'delay-shorter-than-readiness',
    severity: 'advice',
    find: inServers((container, workload, inventory) => {
      const delay = delayOf(container);
      const readiness = container.spec.probes.find(({ type }) => type === 'readiness');
      const ingresses = ingressesOf(servicesOf(workload, inventory), inventory);
      if (delay === undefined || readiness === undefined || ingresses.length === 0) return [];
      const { periodSeconds, failureThreshold, timeoutSeconds } = readiness;
      const lag = periodSeconds * failureThreshold + timeoutSeconds;
      if (lag <= delay.seconds) return [];
      return [
        {
          path: ['readinessProbe'],
          message: `The kubelet may need ${s(lag)} to mark a failing pod as not ready (periodSeconds × failureThreshold + timeoutSeconds = ${String(periodSeconds)} × ${String(failureThreshold)} + ${String(timeoutSeconds)}), but the container stops accepting connections after ${s(delay.seconds)}.`,
          remedy: 'Lower periodSeconds or failureThreshold, or lengthen the shutdown delay.',
        },
      ];
    }),
  },
  {
    name: 'delay-shorter-than-load-balancer',
    severity: 'advice',
    find: inServers((container, workload, inventory) => {
      const delay = delayOf(container);
      if (delay === undefined) return [];
      const longer = loadBalancersOf(container, workload, inventory).flatMap(({ title, lag }) =>
        lag !== undefined && lag.seconds > delay.seconds ? [{ title, lag }] : [],
      );
      return longer.slice(0, 1).map(({ title, lag: { seconds, sum } }) => ({
        path: delay.path,
        message: `${title} can send connections to a pod for ${s(seconds)} after its deletion${sum === undefined ? '' : ` (health check: ${sum})`}, but the container stops accepting connections after ${s(delay.seconds)}.`,
        remedy: `Set the preStop sleep and the shutdown delay so that their sum is at least ${s(seconds)}${sum === undefined ? '' : '. Or lower the interval or the threshold in the health check of the load balancer, so that the check fails earlier'}.`,
      }));
    }),
  },
];

function checkVariable(container: Container, name: string, problem: (seconds: number) => string | undefined): Found[] {
  const stated = statedVariable(container, name);
  const message = stated === undefined ? undefined : problem(stated.seconds);
  if (stated === undefined || message === undefined) return [];
  return [{ path: stated.path, message, remedy: `Set ${name} to the value of the pod specification.` }];
}

// Reports a grace period that is shorter than the sum of the times of lameduck's shutdown. A time that the manifest
// does not state counts as 0, so the shutdown may take longer than this sum.
function budgetTooShort(container: Container, grace: number): Found[] {
  const delay = durationVariable(container, 'LAMEDUCK_SHUTDOWN_DELAY_DURATION');
  if (delay === undefined) return [];
  const parts = [preStopSleep(container), delay, durationVariable(container, 'LAMEDUCK_DESTROY_HOOK_TIMEOUT')];
  const sum = parts.reduce((total, part) => total + (part?.seconds ?? 0), lameduckMargin + lameduckDrain);
  // If the shutdown delay alone is longer than the grace period, only the rule `drain-exceeds-grace-period` reports
  // this delay.
  if (sum <= grace || sum - lameduckMargin - lameduckDrain > grace) return [];
  return [
    {
      path: delay.path,
      message: `The grace period is ${s(grace)}. The preStop sleep, the shutdown delay, the time limit of the destroy hooks and ${s(lameduckMargin)} for the exit leave less than ${s(lameduckDrain)} for requests in flight.`,
      remedy: `Set terminationGracePeriodSeconds to at least ${s(Math.ceil(sum))}, and LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS to the same.`,
    },
  ];
}

function delayOf(container: Container): { seconds: number; path: Path } | undefined {
  const parts = [preStopSleep(container), statedTime(container, 'delay')].filter((part) => part !== undefined);
  const [first] = parts;
  if (first === undefined) return undefined;
  return { path: first.path, seconds: parts.reduce((total, { seconds }) => total + seconds, 0) };
}

function version(minor: number): string {
  return `1.${String(minor)}`;
}

function s(seconds: number): string {
  return `${String(seconds)} s`;
}
