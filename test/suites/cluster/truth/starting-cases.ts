// The pods with a startup probe, with a postStart hook, or with a deletion during their start. Each runs on a cluster
// and in a rehearsal, and the results are compared.
import { alone, everySecond, together, type Case } from './pods.ts';

/**
 * startingCases lists the pods whose start is compared between a cluster and a rehearsal, in the order of
 * docs/rehearsal-truth.md.
 */
export const startingCases: readonly Case[] = [
  {
    name: 'startup-probe',
    endsAfter: 11,
    title: 'has a startup probe that succeeds from 5 s on. The kubelet makes no other probe before that',
    spec: alone({
      env: { ON_SIGTERM: 500, ANSWERS: '/startup=0:503,5000:200' },
      rest: ({ get }) => ({
        startupProbe: get('/startup', { periodSeconds: 1, failureThreshold: 30 }),
        readinessProbe: get('/ready', everySecond),
        livenessProbe: get('/live', { periodSeconds: 2 }),
      }),
    }),
  },
  {
    name: 'startup-failing',
    endsAfter: 20,
    title:
      'has a startup probe that always fails. After three failures, the kubelet restarts the container. The pod is deleted during a back-off',
    spec: alone({
      env: { ON_SIGTERM: 200, ANSWERS: '/startup=0:503' },
      rest: ({ get }) => ({
        startupProbe: get('/startup', { periodSeconds: 1, failureThreshold: 3, initialDelaySeconds: 3 }),
      }),
    }),
  },
  {
    name: 'deleted-while-starting',
    endsAfter: 4,
    title: 'is deleted before it listens, while its startup probe fails',
    spec: alone({
      env: { ON_SIGTERM: 500, LISTEN_AFTER: 20_000 },
      rest: ({ get }) => ({
        startupProbe: get('/startup', { periodSeconds: 1, failureThreshold: 30 }),
        livenessProbe: get('/live', everySecond),
      }),
    }),
  },
  {
    name: 'post-start',
    endsAfter: 14,
    title:
      'has two containers. The first has a postStart hook that sleeps for 5 s. Until it has ended, the kubelet neither starts the second container nor probes the first',
    spec: together(
      15,
      {
        name: 'first',
        env: { ON_SIGTERM: 300 },
        rest: ({ get }) => ({
          lifecycle: { postStart: { sleep: { seconds: 5 } } },
          readinessProbe: get('/ready', everySecond),
          livenessProbe: get('/live', { periodSeconds: 2 }),
        }),
      },
      { name: 'second', env: { ON_SIGTERM: 300 } },
    ),
  },
  {
    name: 'deleted-in-post-start',
    endsAfter: 2,
    isInPostStart: true,
    title:
      'keeps running after SIGTERM, and is deleted while its postStart hook sleeps for 6 s. The grace period of 8 s begins when the hook has ended',
    spec: alone(
      { env: { ON_SIGTERM: 'ignore' }, rest: () => ({ lifecycle: { postStart: { sleep: { seconds: 6 } } } }) },
      { terminationGracePeriodSeconds: 8 },
    ),
  },
  {
    name: 'deleted-while-restarting',
    endsAfter: 6,
    title:
      'fails its liveness probe from 3 s on, exits 5 s after SIGTERM, and is deleted before that. The kubelet first restarts the container, and then ends it',
    spec: alone({
      env: { ON_SIGTERM: 5000, ANSWERS: '/live=0:200,3000:500' },
      rest: ({ get }) => ({ livenessProbe: get('/live', { periodSeconds: 1, failureThreshold: 1 }) }),
    }),
  },
];
