// Values that lose requests by themselves. Each can be allowed.
import { refusal, refused } from './refusal.ts';

const behind = { lameduck: { front: 'nginx' } };
const routed = { enabled: true, parentRefs: [{ name: 'public' }] };

refused('losses that can be allowed', [
  ...['ingress', 'httpRoute', 'grpcRoute'].map((name) =>
    refusal(
      `H-047 the delay is that of the load balancer or proxy: ${name}`,
      { [name]: name === 'ingress' ? { enabled: true, hosts: [{}] } : routed },
      new RegExp(
        `^${name}\\.enabled \\(true\\): requests come through .*; name it in lameduck\\.front, or set lameduck\\.allow`,
      ),
    ),
  ),
  refusal(
    'H-047 the delay is that of the load balancer with a health check of its own',
    { service: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' } },
    /^service\.externalTrafficPolicy \(Local\): the load balancer finds out .*; name it in lameduck\.front, or set /,
  ),
  refusal(
    'H-053 the grace period is not longer than the cluster autoscaler waits',
    { lameduck: { longestRequestDuration: '10m' } },
    /^lameduck \(618s\): the cluster autoscaler kills a pod after 600 seconds: .*, or set lameduck\.allowLongGracePeriod$/,
  ),
  refusal(
    'H-171 SIGTERM begins the shutdown',
    { lameduck: { shutdownSignals: 'SIGINT,SIGQUIT' } },
    /^lameduck\.shutdownSignals \(SIGINT,SIGQUIT\): must contain SIGTERM, .*; add it, or set lameduck\.allowOtherStopSignal/,
  ),
  refusal(
    'H-100 evictions are held to a budget',
    { podDisruptionBudget: { enabled: false } },
    /^podDisruptionBudget\.enabled \(false\): draining nodes may remove all pods at once; .* podDisruptionBudget\.allowNone$/,
  ),
  refusal(
    'H-050 the Gateway does not wait for requests that the drain cuts',
    { ...behind, httpRoute: { ...routed, timeouts: { request: '31s' } } },
    /^httpRoute\.timeouts\.request \(31s\): must not be longer than lameduck\.longestRequestDuration \(30s\).*allowLongTimeout$/,
  ),
  refusal(
    'H-050 the Gateway does not wait for requests that the drain cuts, by a rule of its own',
    { ...behind, httpRoute: { ...routed, rules: [{ timeouts: { request: '2m' } }] } },
    /^httpRoute\.timeouts\.request \(2m\): /,
  ),
  refusal(
    'P-122 a readiness probe of the values fails during the shutdown',
    { readinessProbe: { httpGet: { path: '/health', port: 'http' }, periodSeconds: 2 } },
    /^readinessProbe \(.*\): must fail from the process signal on, .*, or set allowOwnReadinessProbe$/,
  ),
  refusal(
    'H-072 P-122 a readiness probe of the values is not too slow',
    { readinessProbe: { httpGet: { path: '/readyz', port: 'probes' } } },
    /^probes\.readiness \(.*\): .* \(31s\) must not exceed lameduck\.shutdownDelayDuration \(10s\)/,
  ),
  refusal(
    'H-043 the time of a preStop hook of the values is a term of the sum',
    { lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } },
    /^lifecycle\.preStop \(.*\): takes time from the grace period .*; set lameduck\.preStopSeconds to the most seconds/,
  ),
  refusal(
    'H-045 nothing sleeps before the hook lameduck stop',
    { command: ['npm', 'start'], lameduck: { preStopSeconds: 5 } },
    /^lameduck\.preStopSeconds \(5\): must be 0, because the hook lameduck stop begins the shutdown at once/,
  ),
  refusal(
    'H-169 npm is not the parent of the program where nothing else sends SIGTERM',
    { command: ['/usr/local/bin/npm', 'start'], lameduck: { probePort: 'off' } },
    /^command \(\/usr\/local\/bin\/npm\): does not reliably forward SIGTERM, .*; start node itself, /,
  ),
]);
