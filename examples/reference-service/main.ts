// The reference service, which `npm start`, the image and the chart run: a Fastify application with a connection pool
// to an upstream. lameduck adds its lifecycle, and one leader runs a job.
import Fastify from 'fastify';
import fastifyLameduck from 'lameduck/fastify';
import { createElector } from 'lameduck/leader-election';
import { addRoutes } from './app.ts';
import { job } from './job.ts';
import { connectUpstream } from './upstream.ts';

const port = Number(process.env['PORT'] ?? 8080);
if (!(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
  refuse(`PORT=${String(process.env['PORT'])}: expected 0 to 65535, where 0 takes any free port`);
}
const upstreamUrl = process.env['UPSTREAM_URL'];
if (upstreamUrl !== undefined && !/^https?:$/.test(URL.parse(upstreamUrl)?.protocol ?? '')) {
  refuse(`UPSTREAM_URL=${upstreamUrl}: expected an http or https URL`);
}

const upstream = await connectUpstream(upstreamUrl);
const app = Fastify();

await app.register(fastifyLameduck);
app.lameduck.addReadyzCheck('upstream', () => upstream.isReachable());
app.lameduck.addDestroyHook('upstream', () => upstream.close());
addRoutes(app, upstream.pool);

// If LEASE_NAME is set, one replica at a time runs the job. If it is not set, no replica runs the job.
const leaseName = process.env['LEASE_NAME'] ?? '';
const elector = leaseName === '' ? undefined : createElector({ leaseName, lifecycle: app.lameduck });

try {
  // Listens on all IPv6 and IPv4 addresses, because a pod may have an address of only one kind.
  await app.listen({ host: '', port });
} catch (error) {
  refuse(`Cannot listen on port ${String(port)}: ${(error as Error).message}. Another one: PORT=8081 npm start`);
}

// If SIGTERM arrived before the server listened, `app.addresses()` is empty. Then print nothing.
const [address] = app.addresses() as { port: number }[];
if (address !== undefined) {
  console.log(`Listening on http://localhost:${String(address.port)}/. To end it as Kubernetes would:`);
  console.log(`  kill -TERM ${String(process.pid)}`);
}
await elector?.run(job);

function refuse(reason: string): never {
  console.error(reason);
  process.exit(1);
}
