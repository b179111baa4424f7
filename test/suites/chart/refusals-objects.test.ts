import { refusal, refused } from './refusal.ts';

const container = (name: string, more: object = {}) => ({ name, image: 'registry.example/agent:1', ...more });

refused('invalid containers, labels, images and scrapes', [
  refusal(
    "H-075 HC-18 the chart rejects an extra container with the name of the server's container",
    { extraContainers: [container('server')] },
    /^initContainers, extraContainers \(server\): the pod would have this container twice/,
  ),
  refusal(
    'H-075 HC-18 the chart rejects an init container with the name of another container',
    { inject: { enabled: true }, initContainers: [container('lameduck')] },
    /^initContainers, extraContainers \(lameduck\): the pod would have this container twice/,
  ),
  refusal(
    'H-076 the chart rejects an extra container that listens on the port of the server',
    { extraContainers: [container('agent', { ports: [{ containerPort: 8080 }] })] },
    /^extraPorts, initContainers, extraContainers \(8080\): two containers of the pod would listen on this port/,
  ),
  refusal(
    'H-076 the chart rejects a sidecar that listens on the probe port',
    { initContainers: [container('proxy', { restartPolicy: 'Always', ports: [{ containerPort: 8081 }] })] },
    /^extraPorts, initContainers, extraContainers \(8081\): two containers of the pod would listen on this port/,
  ),
  refusal(
    'H-140 the chart recognises a sidecar proxy by the name of its container, and rejects one that would exit before the server',
    { extraContainers: [container('cloud-sql-proxy')] },
    /^extraContainers \(cloud-sql-proxy\): is a proxy, .*; move it to initContainers with restartPolicy: Always, or set allowSidecarProxies$/,
  ),
  refusal(
    'H-140 the chart rejects a proxy, known by its image, that would exit before the server',
    { extraContainers: [{ name: 'edge', image: 'docker.io/envoyproxy/envoy:v1.36' }] },
    /^extraContainers \(edge\): is a proxy, /,
  ),
  refusal(
    'H-140 the chart rejects a pool of database connections that would exit before the server',
    { extraContainers: [{ name: 'pool', image: 'registry.example/pgbouncer:1' }] },
    /^extraContainers \(pool\): is a proxy, /,
  ),
  refusal(
    'H-075 the chart rejects two ports of the container with one name',
    { extraPorts: [{ name: 'http', containerPort: 9090 }] },
    /^extraPorts \(http\): the container would have this port twice; /,
  ),
  refusal(
    'H-076 the chart rejects two ports of the container with one number',
    { extraPorts: [{ name: 'grpc', containerPort: 8080 }] },
    /^extraPorts, initContainers, extraContainers \(8080\): two containers of the pod would listen on this port/,
  ),
  refusal(
    'H-018 the chart rejects a common label that every object already has',
    { commonLabels: { 'app.kubernetes.io/managed-by': 'somebody' } },
    /^commonLabels\.app\.kubernetes\.io\/managed-by \(somebody\): the chart itself sets this label on every object/,
  ),
  refusal(
    'H-018 the chart rejects a label of the Service that every object already has',
    { service: { labels: { 'helm.sh/chart': 'other' } } },
    /^service\.labels\.helm\.sh\/chart \(other\): the chart itself sets this label on every object/,
  ),
  refusal(
    'H-077 the chart rejects an image whose tag is null',
    { image: { tag: null } },
    /^image\.tag \(null\): must name one image if there is no digest/,
  ),
  refusal(
    'H-077 the chart rejects an injected image with an invalid digest',
    { inject: { enabled: true, image: 'registry.example/lameduck@sha256:abc' } },
    /^inject\.image \(registry\.example\/lameduck@sha256:abc\): must have a digest \(sha256: .*\), or a tag other than latest/,
  ),
  refusal(
    'the chart rejects an externalTrafficPolicy for a Service without external traffic',
    { service: { externalTrafficPolicy: 'Local' } },
    /^service\.externalTrafficPolicy \(Local\): a Service of type ClusterIP gets no traffic from outside the cluster/,
  ),
  refusal(
    'H-142 the chart rejects a scrape interval that Prometheus cannot parse',
    { serviceMonitor: { enabled: true, interval: '12.5s' } },
    /^serviceMonitor\.interval \(12\.5s\): Prometheus accepts a duration of whole numbers .*; write it as 15s or 1m30s$/,
  ),
  refusal(
    'H-142 the chart rejects a scrape interval below one second',
    { podMonitor: { enabled: true, interval: '500ms', scrapeTimeout: '500ms' } },
    /^podMonitor\.interval \(500ms\): must be at least 1s; raise it$/,
  ),
]);
