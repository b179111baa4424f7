import { refusal, refused } from './refusal.ts';

const container = (name: string, more: object = {}) => ({ name, image: 'registry.example/agent:1', ...more });

refused('containers, labels, images and scrapes', [
  refusal(
    'H-075 HC-18 no container is there twice',
    { extraContainers: [container('server')] },
    /^initContainers, extraContainers \(server\): the pod would have this container twice/,
  ),
  refusal(
    'H-075 HC-18 no init container has the name of another container',
    { inject: { enabled: true }, initContainers: [container('lameduck')] },
    /^initContainers, extraContainers \(lameduck\): the pod would have this container twice/,
  ),
  refusal(
    'H-076 no container beside the server listens on its port',
    { extraContainers: [container('agent', { ports: [{ containerPort: 8080 }] })] },
    /^extraPorts, initContainers, extraContainers \(8080\): two containers of the pod would listen on this port/,
  ),
  refusal(
    'H-076 no sidecar listens on the probe port',
    { initContainers: [container('proxy', { restartPolicy: 'Always', ports: [{ containerPort: 8081 }] })] },
    /^extraPorts, initContainers, extraContainers \(8081\): two containers of the pod would listen on this port/,
  ),
  refusal(
    'H-140 no proxy beside the server exits before the server, by its name',
    { extraContainers: [container('cloud-sql-proxy')] },
    /^extraContainers \(cloud-sql-proxy\): is a proxy, .*; move it to initContainers with restartPolicy: Always, or set allowSidecarProxies$/,
  ),
  refusal(
    'H-140 no proxy beside the server exits before the server, by its image',
    { extraContainers: [{ name: 'edge', image: 'docker.io/envoyproxy/envoy:v1.36' }] },
    /^extraContainers \(edge\): is a proxy, /,
  ),
  refusal(
    'H-075 no port of the container is there twice by its name',
    { extraPorts: [{ name: 'http', containerPort: 9090 }] },
    /^extraPorts \(http\): the container would have this port twice; /,
  ),
  refusal(
    'H-076 no port of the container is there twice by its number',
    { extraPorts: [{ name: 'grpc', containerPort: 8080 }] },
    /^extraPorts, initContainers, extraContainers \(8080\): two containers of the pod would listen on this port/,
  ),
  refusal(
    'H-018 no label is there twice',
    { commonLabels: { 'app.kubernetes.io/managed-by': 'somebody' } },
    /^commonLabels\.app\.kubernetes\.io\/managed-by \(somebody\): every object has this label from the chart/,
  ),
  refusal(
    'H-018 no label of a Service is there twice',
    { service: { labels: { 'helm.sh/chart': 'other' } } },
    /^service\.labels\.helm\.sh\/chart \(other\): every object has this label from the chart/,
  ),
  refusal(
    'H-077 an image is named for good, also when its tag was taken away',
    { image: { tag: null } },
    /^image\.tag \(null\): without a digest the tag must say which image/,
  ),
  refusal(
    'H-077 the digest of what is injected is one',
    { inject: { enabled: true, image: 'registry.example/lameduck@sha256:abc' } },
    /^inject\.image \(registry\.example\/lameduck@sha256:abc\): its tag or digest must say/,
  ),
  refusal(
    'no node is told how to pass on what never comes from outside',
    { service: { externalTrafficPolicy: 'Local' } },
    /^service\.externalTrafficPolicy \(Local\): no traffic comes from outside to a Service of type ClusterIP/,
  ),
  refusal(
    'H-142 Prometheus can read how often it scrapes',
    { serviceMonitor: { enabled: true, interval: '12.5s' } },
    /^serviceMonitor\.interval \(12\.5s\): Prometheus takes durations of whole numbers, .*; write it as 15s or 1m30s$/,
  ),
  refusal(
    'H-142 a scrape is not made all the time',
    { podMonitor: { enabled: true, interval: '500ms', scrapeTimeout: '500ms' } },
    /^podMonitor\.interval \(500ms\): must be a duration from 1s to .* \(40s\), or a drain ends unseen; raise it$/,
  ),
]);
