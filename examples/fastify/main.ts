import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import fastifyLameduck from 'lameduck/fastify';

const app = Fastify({ logger: true });
// Register the plugin on the root and before the routes, so that it sees every request.
await app.register(fastifyLameduck);

app.get('/', async () => 'hello\n');
app.get('/slow', async () => {
  await sleep(200);
  return 'slow\n';
});
app.addHook('onClose', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

// Listen on 0.0.0.0, because the kubelet connects to the pod's address. By default, Fastify listens on localhost only.
await app.listen({ host: '0.0.0.0', port: Number(process.env.PORT ?? 8080) });
