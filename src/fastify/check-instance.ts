// Where the plugin may be registered: once, on the instance that owns the server.
import type { FastifyInstance } from 'fastify';
import { LameduckError, quoted } from '../errors.ts';

/**
 * checkInstance throws LAMEDUCK_ERR_PLUGIN_ENCAPSULATED for an instance that is not the root, whose `lameduck` nobody
 * outside it would see, and LAMEDUCK_ERR_PLUGIN_DUPLICATE for an application that has a `lameduck` already.
 */
export function checkInstance(app: FastifyInstance): void {
  // An encapsulated instance inherits from the one around it.
  if (!Object.hasOwn(app, 'server')) {
    // Behind it stand the plugins that share its scope, of which this is one.
    const [outer] = app.pluginName.split(' -> ', 1);
    throw new LameduckError(
      'LAMEDUCK_ERR_PLUGIN_ENCAPSULATED',
      `fastifyLameduck: registered inside ${quoted(outer)}, which has a scope of its own: expected the root instance, or a plugin made with fastify-plugin`,
    );
  }
  if (app.hasDecorator('lameduck')) {
    throw new LameduckError(
      'LAMEDUCK_ERR_PLUGIN_DUPLICATE',
      'fastifyLameduck: the application already has a decorator lameduck: expected one registration, and no other decorator of that name',
    );
  }
}
