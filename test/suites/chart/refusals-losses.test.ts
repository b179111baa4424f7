// Values with which the pods would lose requests. The chart rejects each one unless another value allows it.
import { refusal, refused } from './refusal.ts';

const behind = { lameduck: { front: 'nginx' } };
const routed = { enabled: true, parentRefs: [{ name: 'public' }] };

refused('losses that can be allowed', [
  ...['ingress', 'httpRoute', 'grpcRoute'].map((name) =>
    refusal(
      `H-047 the chart rejects an enabled ${name} if no value names the load balancer or proxy`,
      { [name]: name === 'ingress' ? { enabled: true, hosts: [{}] } : routed },
      new RegExp(
        `^${name}\\.enabled \\(true\\): requests come through .*; name the load balancer or proxy in lameduck\\.front, or set lameduck\\.allow`,
      ),
    ),
  ),
  refusal(
    'H-047 the chart rejects a load balancer with its own health check if no value names it',
    { service: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' } },
    /^service\.externalTrafficPolicy \(Local\): with Local, a load balancer needs time .*; name the load balancer or proxy in lameduck\.front, or set /,
  ),
  refusal(
    'H-053 the chart rejects a grace period that is longer than the cluster autoscaler waits',
    { lameduck: { longestRequestDuration: '10m' } },
    /^lameduck \(618s\): the cluster autoscaler kills a pod after 600 seconds: .*, or set lameduck\.allowLongGracePeriod$/,
  ),
  refusal(
    'H-171 the chart rejects shutdownSignals without SIGTERM',
    { lameduck: { shutdownSignals: 'SIGINT,SIGQUIT' } },
    /^lameduck\.shutdownSignals \(SIGINT,SIGQUIT\): must contain SIGTERM, .*; add it, or set lameduck\.allowOtherStopSignal/,
  ),
  refusal(
    'H-100 the chart rejects a release without a disruption budget',
    { podDisruptionBudget: { enabled: false } },
    /^podDisruptionBudget\.enabled \(false\): without it, draining nodes may remove all pods at once; .* podDisruptionBudget\.allowNone$/,
  ),
  refusal(
    'H-050 the chart rejects a route timeout that is longer than the drain waits for a request',
    { ...behind, httpRoute: { ...routed, timeouts: { request: '31s' } } },
    /^httpRoute\.timeouts\.request \(31s\): must not be longer than lameduck\.longestRequestDuration \(30s\).*allowLongTimeout$/,
  ),
  refusal(
    "H-050 the chart rejects a timeout in a route's rule that is longer than the drain waits for a request",
    { ...behind, httpRoute: { ...routed, rules: [{ timeouts: { request: '2m' } }] } },
    /^httpRoute\.timeouts\.request \(2m\): /,
  ),
  refusal(
    'P-122 the chart rejects a readiness probe of the values that may not fail during the shutdown',
    { readinessProbe: { httpGet: { path: '/health', port: 'http' }, periodSeconds: 2 } },
    /^readinessProbe \(.*\): must fail from the process signal on, .*, or set allowOwnReadinessProbe$/,
  ),
  refusal(
    'H-072 P-122 the chart rejects a readiness probe of the values that fails later than the shutdown delay ends',
    { readinessProbe: { httpGet: { path: '/readyz', port: 'probes' } } },
    /^probes\.readiness \(.*\): .* \(31s\) must not exceed lameduck\.shutdownDelayDuration \(10s\)/,
  ),
  refusal(
    'H-043 the chart rejects a preStop hook of the values whose time is not in preStopSeconds',
    { lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } },
    /^lifecycle\.preStop \(.*\): takes time from the grace period .*; set lameduck\.preStopSeconds to the most seconds/,
  ),
  refusal(
    'H-045 the chart rejects preStopSeconds together with the preStop hook `lameduck stop`',
    { command: ['npm', 'start'], lameduck: { preStopSeconds: 5 } },
    /^lameduck\.preStopSeconds \(5\): must be 0, because the preStop hook `lameduck stop` begins the shutdown at once/,
  ),
  refusal(
    'H-169 the chart rejects npm as the parent of the program if nothing else sends SIGTERM to the program',
    { command: ['/usr/local/bin/npm', 'start'], lameduck: { probePort: 'off' } },
    /^command \(\/usr\/local\/bin\/npm\): does not reliably forward SIGTERM, .*; start node itself, /,
  ),
]);
