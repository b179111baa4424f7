import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const workers = 2;

if (cluster.isPrimary) {
  for (let index = 0; index < workers; index++) {
    // The kubelet probes only one port of the pod, and only one process can listen on this port. The first worker
    // listens on it.
    cluster.fork({ LAMEDUCK_PROBE_PORT: index === 0 ? (process.env.LAMEDUCK_PROBE_PORT ?? '8081') : 'off' });
  }
  // The kubelet signals only the primary, which exits after its last worker. cluster.disconnect() would close the port
  // at once, before clients are notified.
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.kill();
  });
} else {
  const server = createServer((request, response) => {
    if (request.url === '/slow') setTimeout(() => response.end('slow\n'), 200);
    else response.end('hello\n');
  });
  lameduck(server);
  server.listen(Number(process.env.PORT ?? 8080));
}
