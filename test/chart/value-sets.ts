// The sets of values that the chart is documented for: the tests render each, and an API server is asked about each.
import type { Values } from './chart.ts';

const hosts = [{ host: 'shop.example', paths: ['/', '/api'] }];
const routed = { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['shop.example'] };

/** Everything that can be beside a Deployment, except for what excludes each other. */
const everything: Values = {
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

/** An image of somebody else's, with everything that a pod can be given. */
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
  podDisruptionBudget: { maxUnavailable: null, minAvailable: 1 },
};

/** valueSets are the documented sets, by what they are for. */
export const valueSets: Readonly<Record<string, Values>> = {
  'the defaults': {},
  'a gateway in front': { lameduck: { front: 'gateway', frontIdleTimeout: '60s' }, httpRoute: routed },
  'an ALB in front': { lameduck: { front: 'aws' }, ingress: { enabled: true, className: 'alb', hosts } },
  'an NLB in front': { lameduck: { front: 'aws', frontIdleTimeout: '50s' }, service: { type: 'LoadBalancer' } },
  'an Ingress of Google in front': { lameduck: { front: 'gce' }, ingress: { enabled: true, hosts } },
  'a Gateway of Google in front': { lameduck: { front: 'gce' }, httpRoute: routed },
  'a sleep before the process signal': { lameduck: { preStopSeconds: 15 } },
  'no probe port': { lameduck: { probePort: 'off' } },
  'a scaled release': { replicaCount: null },
  'a ServiceMonitor': { serviceMonitor: { enabled: true } },
  'a single pod': { allowSingleReplica: true, replicaCount: 1 },
  downtime: { strategy: { type: 'Recreate', allowDowntime: true } },
  'a security context of OpenShift': { podSecurityContext: { runAsUser: null, runAsGroup: null } },
  injection: { inject: { enabled: true }, env: { NODE_OPTIONS: '--require=/app/tracing.cjs' } },
  'a checkpoint': { runFolder: { enabled: true } },
  'leader election': { leaderElection: { enabled: true, leaseDuration: '30s' } },
  'any image': anyImage,
  'everything beside the Deployment': everything,
};
