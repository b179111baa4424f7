// The pods that the comparison runs on the cluster, and also in a rehearsal. Each pod is deleted or evicted at a given
// time after its start.
import { alone, commandOf, everySecond, withSidecars, type Case } from './pods.ts';
import { startingCases } from './starting-cases.ts';

/** `cases` lists the compared pods in the order of docs/rehearsal-truth.md. */
export const cases: readonly Case[] = [
  {
    name: 'good',
    title: 'passes readiness and liveness probes, and exits 2.5 s after SIGTERM',
    endsAfter: 8,
    spec: alone({
      env: { ON_SIGTERM: 2500 },
      rest: ({ get }) => ({
        readinessProbe: get('/ready', everySecond),
        livenessProbe: get('/live', { periodSeconds: 2 }),
      }),
    }),
  },
  {
    name: 'bad',
    title: 'has no handler of SIGTERM, so the kernel drops the signal for PID 1. The grace period is 4 s',
    endsAfter: 6,
    spec: alone(
      { rest: ({ get }) => ({ readinessProbe: get('/ready', everySecond) }) },
      { terminationGracePeriodSeconds: 4 },
    ),
  },
  {
    name: 'slow',
    title: 'exits 6 s after SIGTERM, within its grace period of 10 s',
    endsAfter: 6,
    spec: alone({ env: { ON_SIGTERM: 6000 }, rest: ({ get }) => ({ readinessProbe: get('/ready', everySecond) }) }),
  },
  {
    name: 'deaf',
    title: 'receives SIGTERM and keeps running. The grace period is 3 s',
    endsAfter: 6,
    spec: alone({ env: { ON_SIGTERM: 'ignore' } }, { terminationGracePeriodSeconds: 3 }),
  },
  {
    name: 'short-grace',
    title: 'keeps running after SIGTERM, and is deleted with a grace period of 1 s',
    endsAfter: 6,
    gracePeriodSeconds: 1,
    spec: alone({ env: { ON_SIGTERM: 'ignore' } }, { terminationGracePeriodSeconds: 30 }),
  },
  {
    name: 'crashing',
    title: 'exits with code 3 after 2 s, also after each restart, and whose pod is deleted during a back-off',
    endsAfter: 28,
    spec: alone({ env: { EXIT: '2000:3', ON_SIGTERM: 0 } }),
  },
  {
    name: 'completed',
    title: 'exits with code 0 after 3 s, under the restart policy OnFailure',
    endsAfter: 8,
    spec: alone({ env: { EXIT: '3000:0', ON_SIGTERM: 0 } }, { restartPolicy: 'OnFailure' }),
  },
  {
    name: 'pre-stop-sleep',
    title: 'has a preStop hook that sleeps for 3 s',
    endsAfter: 6,
    spec: alone({ env: { ON_SIGTERM: 500 }, rest: () => ({ lifecycle: { preStop: { sleep: { seconds: 3 } } } }) }),
  },
  {
    name: 'pre-stop-http',
    endsAfter: 6,
    title: 'keeps running after SIGTERM, and has a preStop hook over HTTP that takes 1.7 s. The grace period is 4 s',
    spec: alone(
      {
        env: { ON_SIGTERM: 'ignore', ANSWERS: '/hook=0:200/1700' },
        rest: ({ get }) => ({ lifecycle: { preStop: get('/hook') } }),
      },
      { terminationGracePeriodSeconds: 4 },
    ),
  },
  {
    name: 'pre-stop-abandoned',
    endsAfter: 6,
    title: 'keeps running after SIGTERM, and has a preStop command that takes 20 s. The grace period is 3 s',
    spec: alone(
      {
        env: { ON_SIGTERM: 'ignore', ANSWERS: '/hook=0:200/20000' },
        rest: ({ exec }) => ({ lifecycle: { preStop: commandOf(exec('/hook')) } }),
      },
      { terminationGracePeriodSeconds: 3 },
    ),
  },
  {
    name: 'pre-stop-failing',
    title: 'has a preStop command that fails at once',
    endsAfter: 6,
    spec: alone({
      env: { ON_SIGTERM: 500, ANSWERS: '/hook=0:500' },
      rest: ({ exec }) => ({ lifecycle: { preStop: commandOf(exec('/hook')) } }),
    }),
  },
  {
    name: 'exec-probe',
    endsAfter: 18,
    title:
      'has exec probes. Its liveness probe fails from 8 s on, and after two failures, the kubelet restarts the container',
    spec: alone({
      env: { ON_SIGTERM: 300, ANSWERS: '/live=0:200,8000:500' },
      rest: ({ exec }) => ({
        readinessProbe: exec('/ready', { periodSeconds: 2 }),
        livenessProbe: exec('/live', { periodSeconds: 3, failureThreshold: 2 }),
      }),
    }),
  },
  {
    name: 'exec-error',
    title: 'has a liveness command that does not exist',
    endsAfter: 9,
    spec: alone({
      env: { ON_SIGTERM: 300 },
      rest: () => ({ livenessProbe: { exec: { command: ['/absent'] }, ...everySecond } }),
    }),
  },
  {
    name: 'grpc-probe',
    title: 'is probed over gRPC, and is SERVING from 4 s on',
    endsAfter: 9,
    spec: alone({
      env: { KIND: 'grpc', ON_SIGTERM: 1000, ANSWERS: '/ready=0:503,4000:200' },
      rest: ({ port }) => ({
        readinessProbe: { grpc: { port, service: 'ready' }, ...everySecond },
        livenessProbe: { grpc: { port, service: 'live' }, periodSeconds: 2 },
      }),
    }),
  },
  {
    name: 'tcp-probe',
    title: 'is probed over TCP, and listens from 3 s on',
    endsAfter: 9,
    spec: alone({
      env: { KIND: 'tcp', ON_SIGTERM: 500, LISTEN_AFTER: 3000 },
      rest: ({ port }) => ({ readinessProbe: { tcpSocket: { port }, ...everySecond } }),
    }),
  },
  ...startingCases,
  {
    name: 'sidecars',
    title: 'has two sidecars, and exits 2 s after SIGTERM',
    endsAfter: 8,
    spec: withSidecars(
      15,
      { name: 'first', env: { ON_SIGTERM: 300 } },
      { name: 'second', env: { ON_SIGTERM: 300 } },
      { env: { ON_SIGTERM: 2000 } },
    ),
  },
  {
    name: 'sidecar-of-deaf',
    endsAfter: 7,
    title: 'has a sidecar. Both keep running after SIGTERM. The grace period is 3 s',
    spec: withSidecars(3, { name: 'first', env: { ON_SIGTERM: 'ignore' } }, { env: { ON_SIGTERM: 'ignore' } }),
  },
  {
    name: 'liveness-grace',
    endsAfter: 10.5,
    gracePeriodSeconds: 1,
    title:
      'fails its liveness probe from 4 s on and ignores SIGTERM. The grace period of the probe is 2 s, that of the pod 30 s',
    spec: alone(
      {
        env: { ON_SIGTERM: 'ignore', ANSWERS: '/live=0:200,4000:500' },
        rest: ({ get }) => ({
          livenessProbe: get('/live', { periodSeconds: 1, failureThreshold: 2, terminationGracePeriodSeconds: 2 }),
        }),
      },
      { terminationGracePeriodSeconds: 30 },
    ),
  },
  {
    name: 'liveness-hanging',
    endsAfter: 11,
    title:
      'does not answer its liveness probe from 4 s on. After two timeouts of 1 s, the kubelet restarts the container',
    spec: alone({
      env: { ON_SIGTERM: 300, ANSWERS: '/live=0:200,4000:hang' },
      rest: ({ get }) => ({ livenessProbe: get('/live', { periodSeconds: 2, failureThreshold: 2 }) }),
    }),
  },
  {
    name: 'liveness-stalled',
    endsAfter: 13.4,
    title:
      'answers its liveness probe with headers, but without a complete body. The kubelet makes three attempts at each probe, and then ignores the probe',
    spec: alone({
      env: { ON_SIGTERM: 300, ANSWERS: '/live=0:stall' },
      rest: ({ get }) => ({ livenessProbe: get('/live', { periodSeconds: 5, failureThreshold: 1 }) }),
    }),
  },
  {
    name: 'liveness-never',
    endsAfter: 12,
    title: 'fails its liveness probe from 5 s on, under the restart policy Never',
    spec: alone(
      {
        env: { ON_SIGTERM: 300, ANSWERS: '/live=0:200,5000:500' },
        rest: ({ get }) => ({
          livenessProbe: get('/live', { periodSeconds: 1, failureThreshold: 2, initialDelaySeconds: 3 }),
        }),
      },
      { restartPolicy: 'Never' },
    ),
  },
  {
    name: 'initial-delay',
    title: 'has a liveness probe with an initial delay of 5 s',
    endsAfter: 11,
    spec: alone({
      env: { ON_SIGTERM: 300 },
      rest: ({ get }) => ({ livenessProbe: get('/live', { periodSeconds: 1, initialDelaySeconds: 5 }) }),
    }),
  },
  {
    name: 'redirect',
    title: 'redirects its readiness probe to another host, and passes the probe',
    endsAfter: 6,
    spec: alone({
      env: { ON_SIGTERM: 300, ANSWERS: '/ready=0:redirect' },
      rest: ({ get }) => ({ readinessProbe: get('/ready', everySecond) }),
    }),
  },
  {
    name: 'late-readiness',
    endsAfter: 16,
    title:
      'is ready from 6 s on, with a readiness probe every 4 s. The kubelet also probes whenever it computes the status of the pod',
    spec: alone({
      env: { ON_SIGTERM: 300, ANSWERS: '/ready=0:503,6000:200' },
      rest: ({ get }) => ({ readinessProbe: get('/ready', { periodSeconds: 4 }) }),
    }),
  },
  {
    name: 'thresholds',
    endsAfter: 14,
    title: 'is not ready from 4 to 8 s, with a failureThreshold of 2 and a successThreshold of 3',
    spec: alone({
      env: { ON_SIGTERM: 300, ANSWERS: '/ready=0:200,4000:503,8000:200' },
      rest: ({ get }) => ({
        readinessProbe: get('/ready', { periodSeconds: 1, failureThreshold: 2, successThreshold: 3 }),
      }),
    }),
  },
  {
    name: 'eviction',
    endsAfter: 15,
    isEvicted: true,
    title: 'keeps running after SIGTERM, and is evicted because its emptyDir is too large. The grace period is 30 s',
    spec: alone(
      { env: { ON_SIGTERM: 'ignore' }, rest: ({ get }) => ({ readinessProbe: get('/ready', everySecond) }) },
      { terminationGracePeriodSeconds: 30 },
    ),
  },
];
