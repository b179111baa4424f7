// Code that a user compiles with the plugin: a correct program, and one mistake that the compiler must find.
import Fastify from 'fastify';
import fastifyLameduck from 'lameduck/fastify';

const app = Fastify();
await app.register(fastifyLameduck, { shutdownDelayDuration: '1s' });
app.lameduck.addDestroyHook('pool', () => Promise.resolve());
app.get('/events', { config: { lameduck: { longRunning: true } } }, () => 'hello');

// @ts-expect-error The compiler must reject an unknown option.
await app.register(fastifyLameduck, { shutdownDelay: '1s' });
