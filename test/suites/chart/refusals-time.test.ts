import { refusal, refused } from './refusal.ts';

refused('time', [
  refusal(
    'H-061 HC-02 the chart rejects a grace period in the values, because it computes the grace period',
    { lameduck: { terminationGracePeriodSeconds: 30 } },
    /^lameduck\.terminationGracePeriodSeconds \(30\): the chart computes it: preStopSeconds 0s \+ max\(shutdownDelayDuration 10s, preShutdownHookTimeout 5s\) \+ longestRequestDuration 30s \+ destroyHookTimeout 3s \+ marginDuration 5s = 48s; leave it out, and change the part of the sum that is wrong$/,
  ),
  refusal(
    'H-061 the chart rejects a negative part of the grace period',
    { lameduck: { longestRequestDuration: '-1s' } },
    /^lameduck\.longestRequestDuration \(-1s\): must be a duration such as 15s or 1m30s, from 1ms to 596h; /,
  ),
  refusal(
    'H-043 the chart rejects a marginDuration below 5s',
    { lameduck: { marginDuration: '4999ms' } },
    /^lameduck\.marginDuration \(4999ms\): must be at least 5s: .*; raise it, or leave it out$/,
  ),
  refusal(
    'H-063 the chart rejects a shutdown delay of 0',
    { lameduck: { shutdownDelayDuration: 0 } },
    /^lameduck\.shutdownDelayDuration \(0s\): together with preStopSeconds, it must be at least 5s, because with front none, .*allowShortDelay/,
  ),
  refusal(
    'H-047 the chart rejects a shutdown delay that is shorter than the load balancer needs to remove a pod',
    { lameduck: { front: 'gce', shutdownDelayDuration: '39s' } },
    /^lameduck\.shutdownDelayDuration \(39s\): together with preStopSeconds, it must be at least 40s, because with front gce/,
  ),
  refusal(
    'H-072 P-122 the chart rejects a readiness probe that fails later than the shutdown delay ends',
    { probes: { readiness: { periodSeconds: 5 } } },
    /^probes\.readiness \(periodSeconds 5, failureThreshold 2, timeoutSeconds 1\): .*\(11s\) must not exceed lameduck\.shutdownDelayDuration \(10s\)/,
  ),
  refusal(
    'H-045 P-122 the chart rejects preStopSeconds in place of a shutdown delay, because a process signal without a deletion of the pod skips the hook',
    { lameduck: { shutdownDelayDuration: '0s', preStopSeconds: 10 } },
    /^probes\.readiness \(.*\): .*\(3s\) must not exceed lameduck\.shutdownDelayDuration \(0s\)/,
  ),
  refusal(
    'H-050 the chart rejects a requestTimeout that is longer than the drain waits for a request',
    { lameduck: { requestTimeout: '31s' } },
    /^lameduck\.requestTimeout \(31s\): must not be longer than lameduck\.longestRequestDuration \(30s\)/,
  ),
  refusal(
    'H-050 the chart rejects a grace period for long-running requests that is longer than the drain',
    { lameduck: { shutdownWatchTerminationGracePeriod: '1m' } },
    /^lameduck\.shutdownWatchTerminationGracePeriod \(1m\): must not be longer than lameduck\.longestRequestDuration/,
  ),
  refusal(
    "H-074 the chart rejects a keepAliveTimeout that is not longer than the load balancer's",
    { lameduck: { front: 'aws', keepAliveTimeout: '60s' } },
    /^lameduck\.keepAliveTimeout \(60s\): must be longer than the idle timeout of front aws \(60s\)/,
  ),
  refusal(
    'H-135 the chart rejects an idle timeout that an ALB does not support',
    {
      lameduck: { front: 'aws', frontIdleTimeout: '4001s', keepAliveTimeout: '2h' },
      ingress: { enabled: true, hosts: [{ host: 'a.example' }] },
    },
    /^lameduck\.frontIdleTimeout \(4001s\): must be from 1s to 4000s: .*; correct it, or leave it out for 60s$/,
  ),
  refusal(
    'H-051 H-074 the chart rejects a frontDrainDuration that is shorter than the longest request',
    { lameduck: { frontDrainDuration: '29s' } },
    /^lameduck\.frontDrainDuration \(29s\): must be from lameduck\.longestRequestDuration \(30s\) to 3600s, .*; leave it out, so that/,
  ),
  refusal(
    'H-051 the chart rejects a longest request that is longer than a load balancer waits for a removed pod',
    { lameduck: { front: 'gce', longestRequestDuration: '61m', allowLongGracePeriod: true } },
    /^lameduck\.frontDrainDuration \(3600s\): .* \(3660s\) to 3600s, .*; lower lameduck\.longestRequestDuration: no load balancer/,
  ),
  refusal(
    'H-024 the chart rejects 010 as preStopSeconds, because YAML may read it as another number',
    { lameduck: { preStopSeconds: '010' } },
    /^lameduck\.preStopSeconds \(010\): must be a whole number of seconds/,
  ),
  refusal(
    'H-024 the chart rejects 08080 as a port, because it is a different port as a string and as a number',
    { lameduck: { probePort: '08080' } },
    /^lameduck\.probePort \(08080\): must be a TCP port/,
  ),
  refusal(
    'H-061 the chart rejects a grace period that is longer than Kubernetes allows',
    { lameduck: { longestRequestDuration: '596h' } },
    /^lameduck \(2145618s\): the grace period must be at most 2000000 seconds: preStopSeconds 0s \+ .* = 2145618s; lower the longest/,
  ),
  refusal(
    'H-052 the chart rejects lameduck.front `gateway` without the idle timeout of that proxy',
    { lameduck: { front: 'gateway' } },
    /^lameduck\.frontIdleTimeout \(null\): must be set to the time for which your proxy keeps an idle connection .*; look it up in the /,
  ),
  refusal(
    'the chart rejects an unknown value of lameduck.front',
    { lameduck: { front: 'cloudflare' } },
    /^lameduck\.front \(cloudflare\): must be one of aws, azure, envoy, .*, traefik; name the load balancer/,
  ),
]);

refused('probes', [
  refusal(
    'H-082 the chart rejects a probe path that the probe port does not serve',
    { probes: { startup: { path: '/health' } } },
    /^probes\.startup\.path \(\/health\): is not answered on lameduck\.probePort, .*, or set lameduck\.probePort to off/,
  ),
  refusal(
    'P-122 the chart rejects values with which no port serves the probes',
    { lameduck: { probePort: 'off', probePaths: 'off' } },
    /^lameduck\.probePaths \(off\): must not be off without a lameduck\.probePort: .* never be ready; set lameduck\.probePort, or leave lameduck\.probePaths out$/m,
  ),
  refusal(
    'H-070 P-122 the chart rejects /healthz as the readiness path, because a draining pod would be ready',
    { probes: { readiness: { path: '/healthz' } } },
    /^probes\.readiness\.path \(\/healthz\): must be \/readyz: .*; use \/readyz$/,
  ),
  refusal(
    'H-070 P-122 the chart rejects a single check as the readiness path, because a draining pod would be ready',
    { probes: { readiness: { path: '/readyz/ping' } } },
    /^probes\.readiness\.path \(\/readyz\/ping\): must be \/readyz: .*; use \/readyz$/,
  ),
  refusal(
    'H-070 P-122 the chart rejects a readiness path that excludes the shutdown check, because a draining pod would be ready',
    { probes: { readiness: { path: '/readyz?verbose&exclude=shutdown' } } },
    /^probes\.readiness\.path \(.*exclude=shutdown\): must be \/readyz: .*; use \/readyz$/,
  ),
  refusal(
    'H-070 the chart rejects a single readiness check as the liveness path',
    { probes: { liveness: { path: '/readyz/ping' } } },
    /^probes\.liveness\.path \(\/readyz\/ping\): must not be the path of the readiness probe/,
  ),
  refusal(
    'H-070 the chart rejects the readiness path as the liveness path',
    { probes: { liveness: { path: '/readyz' } } },
    /^probes\.liveness\.path \(\/readyz\): must not be the path of the readiness probe: .*; use \/livez$/,
  ),
  refusal(
    'H-071 the chart rejects a probe timeout that is longer than the probe period',
    { probes: { liveness: { timeoutSeconds: 11 } } },
    /^probes\.liveness\.timeoutSeconds \(11\): must not exceed periodSeconds \(10\)/,
  ),
  refusal(
    'H-071 the chart rejects a liveness stall limit that is not longer than the readiness stall limit',
    { lameduck: { livezEventLoopStallLimit: '5s' } },
    /^lameduck\.livezEventLoopStallLimit \(5s\): must be longer than lameduck\.readyzEventLoopStallLimit \(5s\)/,
  ),
  refusal(
    'H-071 without a probe port the chart rejects a liveness probe that fails before the longest allowed stall',
    { lameduck: { probePort: 'off' }, probes: { liveness: { failureThreshold: 2 } } },
    /^probes\.liveness \(periodSeconds 10, failureThreshold 2\): without a probePort .*\(30s\)/,
  ),
  refusal(
    'the chart rejects a failureThreshold of 0',
    { probes: { startup: { failureThreshold: 0 } } },
    /^probes\.startup\.failureThreshold \(0\): must be a whole number of at least 1; raise it$/,
  ),
  refusal(
    'H-073 the chart rejects a probeHost that the kubelet cannot reach',
    { lameduck: { probeHost: '127.0.0.1' } },
    /^lameduck\.probeHost \(127\.0\.0\.1\): the kubelet probes the address of the pod/,
  ),
]);
