// Tests chart values with which the pods would lose requests. The chart rejects each of these values, unless another
// chart value allows the loss.
import { refusal, refused } from './refusal.ts';

const behind = { lameduck: { front: 'nginx' } };
const routed = { enabled: true, parentRefs: [{ name: 'public' }] };

refused('values that lose requests, unless another value allows the loss', [
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
    /^podDisruptionBudget\.enabled \(false\): without a PodDisruptionBudget, draining several nodes may remove all pods at once; .* podDisruptionBudget\.allowNone$/,
  ),
  refusal(
    'H-050 the chart rejects a route timeout that is longer than the drain waits for a request',
    { ...behind, httpRoute: { ...routed, timeouts: { request: '61s' } } },
    /^httpRoute\.timeouts\.request \(61s\): must not be longer than lameduck\.longestRequestDuration \(60s\).*allowLongTimeout$/,
  ),
  refusal(
    'H-050 the chart rejects a backendRequest timeout that is longer than the drain waits for a request',
    { ...behind, httpRoute: { ...routed, timeouts: { backendRequest: '5m' } } },
    /^httpRoute\.timeouts\.backendRequest \(5m\): must not be longer than lameduck\.longestRequestDuration \(60s\)/,
  ),
  refusal(
    "H-050 the chart rejects a timeout in a route's rule that is longer than the drain waits for a request",
    { ...behind, httpRoute: { ...routed, rules: [{ timeouts: { request: '2m' } }] } },
    /^httpRoute\.timeouts\.request \(2m\): /,
  ),
  refusal(
    'H-051 the chart rejects a deregistration delay of an ALB that is shorter than the longest request',
    {
      lameduck: { front: 'aws' },
      ingress: {
        enabled: true,
        hosts: [{}],
        annotations: {
          'alb.ingress.kubernetes.io/target-group-attributes': 'a=b, deregistration_delay.timeout_seconds=30',
        },
      },
    },
    /^ingress\.annotations \(deregistration_delay\.timeout_seconds=30\): must not be shorter than .* \(60s\), .*; leave this attribute out/,
  ),
  refusal(
    'P-122 the chart rejects a readiness probe of the values that might pass during the shutdown',
    { readinessProbe: { httpGet: { path: '/health', port: 'http' }, periodSeconds: 2 } },
    /^readinessProbe \(.*\): must fail from the process signal on, .*, or set allowOwnReadinessProbe$/,
  ),
  refusal(
    'H-070 the chart rejects a liveness probe of the values that requests a readiness path',
    { lameduck: { readinessPaths: '/ready' }, livenessProbe: { httpGet: { path: '/ready', port: 'http' } } },
    /^livenessProbe \(.*\): must not request a readiness path: .*; request \/livez on the port probes$/,
  ),
  refusal(
    'H-072 P-122 the chart rejects a readiness probe of the values that fails later than the shutdown delay ends',
    { readinessProbe: { httpGet: { path: '/readyz', port: 'probes' } } },
    /^probes\.readiness \(.*\): .* \(31s\) must not exceed lameduck\.shutdownDelayDuration \(10s\)/,
  ),
  refusal(
    'H-043 the chart rejects a preStop hook of the values whose time is not in preStopSeconds',
    { lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } },
    /^lifecycle\.preStop \(.*\): uses a part of the grace period .*; set lameduck\.preStopSeconds to the most seconds/,
  ),
  ...[{ sleep: { seconds: 20 } }, { exec: { command: ['sleep', '20'] } }].map((preStop) =>
    refusal(
      'H-043 the chart rejects a preStop sleep of the values that is longer than preStopSeconds',
      { lameduck: { preStopSeconds: 5 }, lifecycle: { preStop } },
      /^lifecycle\.preStop \(.*20.*\): uses a part of the grace period .*; set lameduck\.preStopSeconds to the most seconds/,
    ),
  ),
  ...[{ sleep: { seconds: 9 } }, { exec: { command: ['/bin/leave'] } }].map((preStop) =>
    refusal(
      'H-045 with lameduck.enabled: false, the chart rejects a preStop hook of the values that sleeps for less than the delay',
      { lameduck: { enabled: false, preStopSeconds: 20 }, lifecycle: { preStop } },
      /^lifecycle\.preStop \(.*\): replaces the sleep of lameduck\.enabled false, .* \(10s\).*, or set lameduck\.allowShortDelay$/,
    ),
  ),
  refusal(
    'H-045 the chart rejects preStopSeconds together with the preStop hook `lameduck stop`',
    { command: ['npm', 'start'], lameduck: { preStopSeconds: 5 } },
    /^lameduck\.preStopSeconds \(5\): must be 0, because the preStop hook `lameduck stop` begins the shutdown at once/,
  ),
  refusal(
    'H-169 the chart rejects npm as the parent of the program if nothing else sends SIGTERM to the program',
    { command: ['/usr/local/bin/npm', 'start'], lameduck: { probePort: 'off' } },
    /^command, args \(\/usr\/local\/bin\/npm\): does not reliably forward SIGTERM, .*; start node itself, /,
  ),
  refusal(
    'H-169 the chart rejects npm after an init process if nothing else sends SIGTERM to the program',
    { command: ['tini', '--'], args: ['npm', 'start'], lameduck: { probePort: 'off' } },
    /^command, args \(npm\): does not reliably forward SIGTERM, /,
  ),
]);
