import { refusal, refused } from './refusal.ts';

refused('time', [
  refusal(
    'H-061 HC-02 the grace period is never typed',
    { lameduck: { terminationGracePeriodSeconds: 30 } },
    /^lameduck\.terminationGracePeriodSeconds \(30\): it is computed: preStopSeconds 0s \+ max\(shutdownDelayDuration 10s, preShutdownHookTimeout 5s\) \+ longestRequestDuration 30s \+ destroyHookTimeout 3s \+ marginDuration 5s = 48s; leave it out, and change the term that is wrong$/,
  ),
  refusal(
    'H-061 a term is not negative',
    { lameduck: { longestRequestDuration: '-1s' } },
    /^lameduck\.longestRequestDuration \(-1s\): allowed is a duration such as 15s or 1m30s, from 1ms to 596h; /,
  ),
  refusal(
    'H-043 the reserve is at least 5s',
    { lameduck: { marginDuration: '4999ms' } },
    /^lameduck\.marginDuration \(4999ms\): must be at least 5s: .*; raise it, or leave it out$/,
  ),
  refusal(
    'H-063 the delay is not 0',
    { lameduck: { shutdownDelayDuration: 0 } },
    /^lameduck\.shutdownDelayDuration \(0s\): with preStopSeconds it must be at least 5s behind front none, .*allowShortDelay/,
  ),
  refusal(
    'H-047 the delay is not shorter than the load balancer takes',
    { lameduck: { front: 'gce', shutdownDelayDuration: '39s' } },
    /^lameduck\.shutdownDelayDuration \(39s\): with preStopSeconds it must be at least 40s behind front gce/,
  ),
  refusal(
    'H-072 P-122 readiness is not too slow for a kill without a deletion',
    { probes: { readiness: { periodSeconds: 5 } } },
    /^probes\.readiness \(periodSeconds 5, failureThreshold 2, timeoutSeconds 1\): .*\(11s\) must not exceed lameduck\.shutdownDelayDuration \(10s\)/,
  ),
  refusal(
    'H-045 P-122 a sleep before the process signal does not replace the delay when only the signal comes',
    { lameduck: { shutdownDelayDuration: '0s', preStopSeconds: 10 } },
    /^probes\.readiness \(.*\): .*\(3s\) must not exceed lameduck\.shutdownDelayDuration \(0s\)/,
  ),
  refusal(
    'H-050 no request may take longer than the drain waits',
    { lameduck: { requestTimeout: '31s' } },
    /^lameduck\.requestTimeout \(31s\): must not be longer than lameduck\.longestRequestDuration \(30s\)/,
  ),
  refusal(
    'H-050 long-running requests are not given longer than the drain',
    { lameduck: { shutdownWatchTerminationGracePeriod: '1m' } },
    /^lameduck\.shutdownWatchTerminationGracePeriod \(1m\): must not be longer than lameduck\.longestRequestDuration/,
  ),
  refusal(
    'H-074 connections are kept longer than the front keeps them',
    { lameduck: { front: 'aws', keepAliveTimeout: '60s' } },
    /^lameduck\.keepAliveTimeout \(60s\): must be longer than front aws keeps a connection without a request \(60s\)/,
  ),
  refusal(
    'H-135 an ALB is told an idle timeout that it can have',
    {
      lameduck: { front: 'aws', frontIdleTimeout: '4001s', keepAliveTimeout: '2h' },
      ingress: { enabled: true, hosts: [{ host: 'a.example' }] },
    },
    /^lameduck\.frontIdleTimeout \(4001s\): must be from 1s to 4000s: .*; correct it, or leave it out for 60s$/,
  ),
  refusal(
    'H-051 H-074 a load balancer does not cut what the pod still answers',
    { lameduck: { frontDrainDuration: '29s' } },
    /^lameduck\.frontDrainDuration \(29s\): must be from lameduck\.longestRequestDuration \(30s\) to 3600s/,
  ),
  refusal(
    'H-024 no number is one that YAML takes for another',
    { lameduck: { preStopSeconds: '010' } },
    /^lameduck\.preStopSeconds \(010\): allowed is a whole number of seconds/,
  ),
  refusal(
    'H-024 no port is written so that it is another one as a text',
    { lameduck: { probePort: '08080' } },
    /^lameduck\.probePort \(08080\): allowed is a TCP port/,
  ),
  refusal(
    'H-061 the sum is no longer than a pod can have',
    { lameduck: { longestRequestDuration: '596h' } },
    /^lameduck \(2145618s\): a pod has at most 2000000 seconds: preStopSeconds 0s \+ .* = 2145618s; lower the longest/,
  ),
  refusal(
    'H-052 the idle timeout of any other proxy is given',
    { lameduck: { front: 'gateway' } },
    /^lameduck\.frontIdleTimeout \(null\): must be how long your proxy keeps an idle connection .*; look it up in the /,
  ),
  refusal(
    'the front is one that the chart knows',
    { lameduck: { front: 'cloudflare' } },
    /^lameduck\.front \(cloudflare\): must be one of aws, azure, envoy, .*, traefik; name the load balancer/,
  ),
]);

refused('probes', [
  refusal(
    'H-082 the probe port is asked for what it knows',
    { probes: { startup: { path: '/health' } } },
    /^probes\.startup\.path \(\/health\): is not answered on lameduck\.probePort, .*, or set lameduck\.probePort to off/,
  ),
  refusal(
    'P-122 something has to answer the probes',
    { lameduck: { probePort: 'off', probePaths: 'off' } },
    /^lameduck\.probePaths \(off\): without a probePort .* never be ready; set lameduck\.probePort, or leave it out$/m,
  ),
  refusal(
    'H-070 P-122 a pod that drains is not ready',
    { probes: { readiness: { path: '/healthz' } } },
    /^probes\.readiness\.path \(\/healthz\): must be \/readyz: .*; use \/readyz$/,
  ),
  refusal(
    'H-070 P-122 one check of readiness alone does not tell that a pod drains',
    { probes: { readiness: { path: '/readyz/ping' } } },
    /^probes\.readiness\.path \(\/readyz\/ping\): must be \/readyz: .*; use \/readyz$/,
  ),
  refusal(
    'H-070 P-122 readiness without the check of the shutdown does not tell that a pod drains',
    { probes: { readiness: { path: '/readyz?verbose&exclude=shutdown' } } },
    /^probes\.readiness\.path \(.*exclude=shutdown\): must be \/readyz: .*; use \/readyz$/,
  ),
  refusal(
    'H-070 liveness does not ask for a part of readiness',
    { probes: { liveness: { path: '/readyz/ping' } } },
    /^probes\.liveness\.path \(\/readyz\/ping\): must not be the path of the readiness probe/,
  ),
  refusal(
    'H-070 liveness does not ask for readiness',
    { probes: { liveness: { path: '/readyz' } } },
    /^probes\.liveness\.path \(\/readyz\): must not be the path of the readiness probe: .*; use \/livez$/,
  ),
  refusal(
    'H-071 a probe does not take longer than its period',
    { probes: { liveness: { timeoutSeconds: 11 } } },
    /^probes\.liveness\.timeoutSeconds \(11\): must not exceed periodSeconds \(10\)/,
  ),
  refusal(
    'H-071 a blocked process leaves its services before it is restarted',
    { lameduck: { livezEventLoopStallLimit: '5s' } },
    /^lameduck\.livezEventLoopStallLimit \(5s\): must be longer than lameduck\.readyzEventLoopStallLimit \(5s\)/,
  ),
  refusal(
    'H-071 without a probe port, liveness bears the longest stall',
    { lameduck: { probePort: 'off' }, probes: { liveness: { failureThreshold: 2 } } },
    /^probes\.liveness \(periodSeconds 10, failureThreshold 2\): without a probePort .*\(30s\)/,
  ),
  refusal(
    'a probe is made at all',
    { probes: { startup: { failureThreshold: 0 } } },
    /^probes\.startup\.failureThreshold \(0\): must be a whole number of at least 1; raise it$/,
  ),
  refusal(
    'H-073 the kubelet reaches the probe port',
    { lameduck: { probeHost: '127.0.0.1' } },
    /^lameduck\.probeHost \(127\.0\.0\.1\): the kubelet asks at the address of the pod/,
  ),
]);
