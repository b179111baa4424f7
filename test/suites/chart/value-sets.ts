// The example chart values that the chart's documentation describes. The tests render the chart with the values of each
// example, and send the rendered objects to an API server.
import type { Values } from './chart.ts';

const hosts = [{ host: 'shop.example', paths: ['/', '/api'] }];
const routed = { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['shop.example'] };

/** Chart values that enable every optional object, except those that exclude each other. */
const everything: Values = {
  lameduck: { front: 'nginx' },
  autoscaling: { enabled: true, minReplicas: 3 },
  ingress: { enabled: true, className: 'internal', hosts, tls: [{ hosts: ['shop.example'], secretName: 'shop' }] },
  httpRoute: { ...routed, timeouts: { request: '30s' } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'gateway' } } }],
    probesFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 5432 }] }],
  },
  podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  logRules: { enabled: true },
  dashboard: { enabled: true, annotations: { folder: 'Services' } },
  alerts: { labels: { team: 'shop' }, runbookUrl: 'https://runbooks.example/shop' },
};

/** Chart values with a third-party image, and with every pod field that the chart can set. */
const anyImage: Values = {
  image: {
    repository: 'registry.example/shop/api',
    tag: '1.4.2',
    digest: `sha256:${'0123456789abcdef'.repeat(4)}`,
  },
  imagePullSecrets: [{ name: 'registry' }],
  fullnameOverride: 'api',
  containerPort: 3000,
  command: ['/nodejs/bin/node'],
  args: ['dist/main.js'],
  env: {
    NODE_ENV: 'production',
    POOL_SIZE: 20,
    LOG_COLOURS: false,
    LIMIT: 10_000_000,
    RATIO: 10.5,
    OFFSET: -0.5,
    CHANCE: 0.00002,
  },
  extraEnv: [{ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'database', key: 'url' } } }],
  extraEnvFrom: [{ configMapRef: { name: 'features' } }],
  extraVolumes: [{ name: 'cache', emptyDir: { sizeLimit: '1Gi' } }],
  extraVolumeMounts: [{ name: 'cache', mountPath: '/var/cache/api' }],
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  readinessGates: [{ conditionType: 'example.com/registered' }],
  podLabels: { team: 'shop' },
  podAnnotations: { 'example.com/owner': 'shop' },
  serviceAccount: { name: 'api-runner', annotations: { 'example.com/role': 'api' } },
  lameduck: {
    shutdownDelayDuration: '12s500ms',
    longestRequestDuration: '1m30s',
    shutdownSendRetryAfter: true,
    shutdownSignals: 'SIGTERM,SIGQUIT',
    ownSignalListeners: 'run',
    maxRequestsInflight: 1_000_000,
    goawayChance: 0.001,
    requestTimeout: '1m',
    metricsPath: '/internal/metrics',
    terminationMessagePath: '/dev/termination-log',
    livezEventLoopStallLimit: '0s',
    probeHost: '0.0.0.0',
  },
  topologySpread: { whenUnsatisfiable: 'DoNotSchedule' },
  strategy: { maxSurge: '25%' },
  podDisruptionBudget: { minAvailable: 1 },
};

/** Settings that pod security `restricted` requires. The chart does not set them for an injected image. */
const restricted: Values = {
  podSecurityContext: { runAsNonRoot: true, runAsUser: 1000 },
  securityContext: { capabilities: { drop: ['ALL'] } },
};

const restrictedContainer = {
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
};

const grpc = { name: 'grpc', containerPort: 9_090, servicePort: 90, appProtocol: 'kubernetes.io/h2c' };

const injected: Values = { inject: { enabled: true }, ...restricted };

/** The values of `lameduck.front` that name a load balancer or proxy whose idle timeout the chart knows. */
const fronts = ['envoy', 'istio', 'linkerd', 'nginx', 'traefik', 'haproxy', 'azure', 'aws', 'gce'];

/** valueSets maps the title of each documented example to the Helm values of that example. */
export const valueSets: Readonly<Record<string, Values>> = {
  'the defaults': {},
  'a gateway in front': { lameduck: { front: 'gateway', frontIdleTimeout: '60s' }, httpRoute: routed },
  'an ALB in front': { lameduck: { front: 'aws' }, ingress: { enabled: true, className: 'alb', hosts } },
  'an NLB in front': { lameduck: { front: 'aws', frontIdleTimeout: '50s' }, service: { type: 'LoadBalancer' } },
  'an Ingress of Google in front': { lameduck: { front: 'gce' }, ingress: { enabled: true, hosts } },
  'a Gateway of Google in front': { lameduck: { front: 'gce' }, httpRoute: routed },
  'a Gateway of AWS in front': { lameduck: { front: 'aws' }, httpRoute: routed },
  'a sleep before the process signal': { lameduck: { preStopSeconds: 15 } },
  'no probe port': { lameduck: { probePort: 'off' } },
  'a scaled release': { replicaCount: null },
  'a ServiceMonitor': { serviceMonitor: { enabled: true } },
  'a single pod': { allowSingleReplica: true, replicaCount: 1 },
  downtime: { strategy: { type: 'Recreate', allowDowntime: true } },
  'a security context of OpenShift': { podSecurityContext: { runAsUser: null, runAsGroup: null } },
  injection: { ...injected, env: { NODE_OPTIONS: '--require=/app/tracing.cjs' } },
  'a checkpoint': { lameduck: { checkpointPath: '/run/lameduck/checkpoint.json' } },
  'no run folder': { runFolder: { enabled: false } },
  'leader election': { leaderElection: { enabled: true, leaseDuration: '30s' } },
  'any image': anyImage,
  'every optional object in addition to the Deployment': everything,
  'every optional object, and no Service': {
    service: { enabled: false },
    serviceAccount: { create: false },
    tests: { enabled: false },
  },
  ...Object.fromEntries(
    fronts.map((front) => [`an Ingress behind ${front}`, { lameduck: { front }, ingress: { enabled: true, hosts } }]),
  ),
  ...Object.fromEntries(
    fronts.map((front) => [`an HTTPRoute behind ${front}`, { lameduck: { front }, httpRoute: routed }]),
  ),
  'a GRPCRoute': { lameduck: { front: 'envoy' }, extraPorts: [grpc], grpcRoute: { ...routed, port: 90 } },
  'rules of an HTTPRoute': {
    lameduck: { front: 'envoy' },
    httpRoute: { ...routed, rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/api' } }] }] },
  },
  'an Ingress for every host': {
    lameduck: { front: 'nginx' },
    ingress: { enabled: true, hosts: [{ paths: ['/', { path: '/exact', pathType: 'Exact' }] }] },
  },
  'lameduck switched off': { lameduck: { enabled: false }, podMonitor: { enabled: true } },
  'lameduck switched off in an injected image': { lameduck: { enabled: false }, ...injected },
  'lameduck switched off behind an ALB': {
    lameduck: { enabled: false, front: 'aws' },
    ingress: { enabled: true, hosts },
  },
  'npm as the command of an injected image': { command: ['npm', 'start'], ...injected },
  'npm as the command': { command: ['npm', 'start'] },
  'the preStop hook lameduck stop for every command': { preStopHook: 'always' },
  'custom probes': {
    readinessProbe: { httpGet: { path: '/readyz', port: 'probes' }, periodSeconds: 2, failureThreshold: 2 },
    livenessProbe: { grpc: { port: 9090 } },
    startupProbe: { tcpSocket: { port: 'http' }, periodSeconds: 1, failureThreshold: 300 },
  },
  'custom lifecycle hooks of the container': {
    lameduck: { preStopSeconds: 5 },
    lifecycle: { preStop: { exec: { command: ['/bin/leave'] } }, postStart: { exec: { command: ['/bin/warm'] } } },
  },
  'a gRPC port': { extraPorts: [grpc] },
  'injection by an image volume': { ...injected, inject: { enabled: true, delivery: 'imageVolume' } },
  'a NodePort': { service: { type: 'NodePort', nodePort: 30_080 } },
  'a load balancer that sends requests to the pods of a node': {
    lameduck: { allowUnknownFront: true, shutdownDelayDuration: '40s' },
    service: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
  },
  'memory as a second target of the autoscaler': {
    autoscaling: { enabled: true, targetMemoryUtilizationPercentage: 80 },
  },
  'memory as the only target of the autoscaler': {
    autoscaling: { enabled: true, targetCPUUtilizationPercentage: null, targetMemoryUtilizationPercentage: 80 },
  },
  'a custom behavior of the autoscaler': {
    autoscaling: { enabled: true, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } },
  },
  'a native sidecar': {
    initContainers: [
      { name: 'proxy', image: 'registry.example/envoy:1', restartPolicy: 'Always', ...restrictedContainer },
    ],
  },
  'a second container in the pod': {
    extraContainers: [{ name: 'logs', image: 'registry.example/logs:1', ...restrictedContainer }],
  },
  'DNS and scheduling fields of the pods': {
    dnsPolicy: 'Default',
    dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
    topologySpreadConstraints: [
      {
        topologyKey: 'rack',
        maxSkew: 1,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'lameduck' } },
      },
    ],
    deploymentAnnotations: { 'example.com/owner': 'shop' },
  },
  'fields for which the chart has no value': {
    hostAliases: [{ ip: '192.0.2.7', hostnames: ['a.example'] }],
    extraPodSpec: { shareProcessNamespace: true },
    extraContainerSpec: { workingDir: '/app' },
    extraPorts: [{ name: 'dns', containerPort: 8053, protocol: 'UDP', servicePort: 53 }],
    env: { NAME: { valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } } },
    service: { type: 'LoadBalancer', sessionAffinity: 'ClientIP', loadBalancerSourceRanges: ['192.0.2.0/24'] },
    probes: { startup: { initialDelaySeconds: 5 } },
  },
  'a headless Service': { service: { clusterIP: 'None' } },
  'objects of any kind': {
    extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-more' } }],
  },
  'templates in values': {
    podAnnotations: { 'example.com/release': '{{ .Release.Name }}' },
    env: { SHOP: '{{ .Release.Namespace }}' },
    extraEnvFrom: [{ configMapRef: { name: '{{ .Release.Name }}-settings' } }],
  },
  'a registry for the images of this chart': { image: { registry: 'mirror.example:5000' } },
  'a registry for all charts': { global: { imageRegistry: 'mirror.example' } },
  'alerts for a whole cluster': {
    rulesOnly: true,
    prometheusRule: { enabled: true, scope: 'cluster' },
    logRules: { enabled: true, scope: 'cluster' },
    dashboard: { enabled: true },
  },
  'alerts with another threshold, and switched off': {
    prometheusRule: { enabled: true },
    alerts: { rules: { LameduckContainerRestarts: { threshold: 5 }, LameduckHookFails: { enabled: false } } },
  },
  'a long grace period': { lameduck: { longestRequestDuration: '2h', allowLongGracePeriod: true } },
  'a short delay': { lameduck: { shutdownDelayDuration: '0s', allowShortDelay: true } },
  'no disruption budget': { podDisruptionBudget: { enabled: false, allowNone: true } },
  'a percentage in the disruption budget': { replicaCount: 4, podDisruptionBudget: { maxUnavailable: '25%' } },
  'a slow start': { probes: { startup: { failureThreshold: 600 } }, progressDeadlineSeconds: 900 },
  'no topology spread': { topologySpread: { enabled: false } },
};
