import { refusal, refused } from './refusal.ts';

const duplicate = (names: string[]) => names.map((name) => ({ name, value: 'x' }));
const behind = { lameduck: { front: 'nginx' } };
const routed = { enabled: true, parentRefs: [{ name: 'gateway' }] };

refused('invalid names, images, routes and monitors', [
  refusal(
    'M-07 the chart rejects an image volume for an API server that may drop it',
    { inject: { enabled: true, delivery: 'imageVolume' } },
    /^inject\.delivery \(imageVolume\): an image volume needs Kubernetes 1\.35, and the cluster has v1\.34\.9/,
    ['--kube-version', '1.34.9'],
  ),
  refusal(
    'H-073 the chart rejects a Service with publishNotReadyAddresses, which would keep terminating pods',
    { service: { publishNotReadyAddresses: true } },
    /^service\.publishNotReadyAddresses \(true\): terminating pods would stay in the Service; leave it out$/,
  ),
  refusal(
    'H-075 HC-18 the chart rejects a variable that the values set twice',
    { env: { A: '1' }, extraEnv: duplicate(['A']) },
    /^env, extraEnv \(A\): the container would have this variable twice/,
  ),
  refusal(
    'H-075 the chart rejects a variable that the chart sets as well',
    { env: { PORT: '1' } },
    /^env, extraEnv \(PORT\): the chart sets this variable; set containerPort instead$/,
  ),
  refusal(
    'H-075 the chart rejects a variable that the chart sets without a value of its own',
    { extraEnv: duplicate(['POD_NAME']) },
    /^env, extraEnv \(POD_NAME\): the chart sets this variable; leave it out$/,
  ),
  refusal(
    'H-075 with leader election, the chart rejects the variable LEASE_NAME, because the chart itself sets it',
    { leaderElection: { enabled: true }, env: { LEASE_NAME: 'a' } },
    /^env, extraEnv \(LEASE_NAME\): the chart sets this variable; set leaderElection\.leaseName instead$/,
  ),
  refusal(
    'H-121 HC-25 the chart rejects a LAMEDUCK_ variable outside of the block `lameduck`',
    { extraEnv: duplicate(['LAMEDUCK_SHUTDOWN_DELAY_DURATION']) },
    /^env, extraEnv \(LAMEDUCK_SHUTDOWN_DELAY_DURATION\): .*; set lameduck\.<option> instead$/,
  ),
  refusal(
    'H-075 the chart rejects two volumes with one name',
    { extraVolumes: [{ name: 'tmp', emptyDir: {} }] },
    /^extraVolumes \(tmp\): the pod would have this volume twice/,
  ),
  refusal(
    'H-075 the chart rejects two volumes that are mounted at one path',
    {
      extraVolumes: [{ name: 'a', emptyDir: {} }],
      extraVolumeMounts: [{ name: 'a', mountPath: '/tmp' }],
    },
    /^extraVolumeMounts \(\/tmp\): the container would have two volumes at this path/,
  ),
  refusal(
    'H-076 the chart rejects a probe port that equals the port of the server',
    { lameduck: { probePort: 8080 } },
    /^lameduck\.probePort \(8080\): must not be containerPort/,
  ),
  refusal(
    'H-077 the chart rejects the tag `latest`, which may change its image',
    { image: { tag: 'latest' } },
    /^image\.tag \(latest\): must name one image if there is no digest/,
  ),
  refusal(
    'H-077 the chart rejects an invalid digest of an image',
    { image: { digest: 'sha256:abc' } },
    /^image\.digest \(sha256:abc\): must be sha256: and 64 hexadecimal digits/,
  ),
  refusal(
    'H-077 the chart rejects an injected image without a tag or a digest',
    { inject: { enabled: true, image: 'registry.example:5000/lameduck' } },
    /^inject\.image \(registry\.example:5000\/lameduck\): must have a digest \(sha256: .*\), or a tag other than latest/,
  ),
  refusal(
    'H-082 the chart rejects injection without a probe port',
    { inject: { enabled: true }, lameduck: { probePort: 'off' } },
    /^lameduck\.probePort \(off\): a program that does not use lameduck in its code answers no probes/,
  ),
  refusal(
    'H-075 the chart rejects injection if NODE_OPTIONS comes from a reference',
    { inject: { enabled: true }, extraEnv: duplicate(['NODE_OPTIONS']) },
    /^extraEnv \(NODE_OPTIONS\): injection appends an option to the text of NODE_OPTIONS in env; move NODE_OPTIONS into env$/,
  ),
  refusal(
    'H-075 the chart rejects a volume with the name of the injected volume',
    { inject: { enabled: true }, extraVolumes: [{ name: 'lameduck', emptyDir: {} }] },
    /^extraVolumes \(lameduck\): the pod would have this volume twice/,
  ),
  refusal(
    'H-018 the chart rejects a pod label that overrides the selector',
    { podLabels: { 'app.kubernetes.io/name': 'other' } },
    /^podLabels\.app\.kubernetes\.io\/name \(other\): the selector of the Deployment has this label/,
  ),
  refusal(
    'H-079 the chart rejects an HTTPRoute without a Gateway',
    { ...behind, httpRoute: { enabled: true } },
    /^httpRoute\.parentRefs \(\[\]\): must name a Gateway/,
  ),
  refusal(
    'H-079 the chart rejects an HTTPRoute without a Service',
    { ...behind, service: { enabled: false }, httpRoute: routed },
    /^httpRoute\.enabled \(true\): the route leads to the Service, but service.enabled is false/,
  ),
  refusal(
    'H-079 the chart rejects an Ingress without a host',
    { ...behind, ingress: { enabled: true } },
    /^ingress\.hosts \(\[\]\): must name at least one host/,
  ),
  refusal(
    'H-142 the chart rejects a PodMonitor together with a ServiceMonitor',
    { podMonitor: { enabled: true }, serviceMonitor: { enabled: true } },
    /^serviceMonitor\.enabled \(true\): podMonitor is enabled too/,
  ),
  refusal(
    'H-142 the chart rejects a scrape timeout that is longer than the scrape interval',
    { podMonitor: { enabled: true, scrapeTimeout: '16s' } },
    /^podMonitor\.scrapeTimeout \(16s\): must be a duration of at most interval \(15s\)/,
  ),
  refusal(
    'H-143 the chart rejects a PodMonitor without a probe port',
    { lameduck: { probePort: 'off' }, podMonitor: { enabled: true } },
    /^podMonitor\.enabled \(true\): metrics are scraped at lameduck\.probePort, which is off/,
  ),
]);
