// Code that the compiler must accept or reject in a program that uses the plugin. It is compiled and never run.
import Fastify, { type FastifyTypeProvider } from 'fastify';
import type { Lameduck } from '../../src/index.ts';
import fastifyLameduck, {
  fastifyLameduck as named,
  type LameduckOptions,
  type LameduckRouteConfig,
} from '../../src/fastify.ts';
import { certificate } from '../fixtures/certificate.ts';

interface Provider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends { readonly infer: infer Type } ? Type : unknown;
  readonly serializer: this['schema'] extends { readonly infer: infer Type } ? Type : unknown;
}

export async function registers(): Promise<Lameduck> {
  const app = Fastify();
  await app.register(fastifyLameduck);
  await app.register(named, { shutdownDelayDuration: '5s', logger: app.log, route: () => '/' });
  await app.register(fastifyLameduck, { prefix: '/api', logLevel: 'warn' });
  await app.register(fastifyLameduck, () => ({ preStopSeconds: 1 }));
  await app.register(import('../../src/fastify.ts'), { preStopSeconds: 1 });

  // @ts-expect-error The compiler must reject `shutdownDelay`, because the plugin has no option with this name.
  await app.register(fastifyLameduck, { shutdownDelay: '5s' });
  // @ts-expect-error The compiler must reject a string as the value of the boolean option `shutdownSendRetryAfter`.
  await app.register(fastifyLameduck, { shutdownSendRetryAfter: 'yes' });

  app.lameduck.addDestroyHook('pool', ({ reason }) => reason?.length);
  // @ts-expect-error The property `lameduck` of an application is read-only.
  app.lameduck = undefined;
  return app.lameduck;
}

export async function registersOnEveryServer(): Promise<void> {
  await Fastify({ https: certificate }).register(fastifyLameduck, { preStopSeconds: 1 });
  await Fastify({ http2: true }).register(fastifyLameduck, { preStopSeconds: 1 });
  await Fastify({ http2: true, https: certificate }).register(fastifyLameduck, { preStopSeconds: 1 });
}

export async function registersWithATypeProvider(): Promise<void> {
  const app = Fastify().withTypeProvider<Provider>();
  await app.register(fastifyLameduck, { preStopSeconds: 1 });
  const body = {} as { readonly infer: { readonly id: number } };
  app.post('/', { schema: { body }, config: { lameduck: { longRunning: true } } }, (request) => {
    const { id }: { id: number } = request.body;
    // @ts-expect-error The type provider says that `id` is a number, so `id` cannot be assigned to a string.
    const name: string = request.body.id;
    request.server.lameduck.abortSignal(request).throwIfAborted();
    return [id, name, request.routeOptions.config.lameduck.longRunning];
  });
  // @ts-expect-error The compiler must reject an unknown option even with a type provider.
  await app.register(fastifyLameduck, { shutdownDelay: '5s' });
}

export function marksRoutes(): void {
  const app = Fastify();
  const config: LameduckRouteConfig = { longRunning: true };
  app.get('/events', { config: { lameduck: config } }, () => '');
  app.route({ method: 'GET', url: '/poll', config: { lameduck: { longRunning: false } }, handler: () => '' });
  // @ts-expect-error The route option longRunning must be a boolean.
  app.get('/often', { config: { lameduck: { longRunning: 'often' } } }, () => '');
}

// @ts-expect-error TypeScript must reject a wrong option even if the options object is stored in a constant first.
export const options: LameduckOptions = { logger: 'console' };
