// Checks that the plugin is registered once, on the root instance.
import type { FastifyInstance } from 'fastify';
import { LameduckError, quoted } from '../errors.ts';

/**
 * checkInstance throws LAMEDUCK_ERR_PLUGIN_ENCAPSULATED for an instance that is not the root, because only its own routes would
 * see `app.lameduck`. It throws LAMEDUCK_ERR_PLUGIN_DUPLICATE if the application already has a `lameduck`.
 */
export function checkInstance(app: FastifyInstance): void {
  // An encapsulated instance inherits from its parent.
  if (!Object.hasOwn(app, 'server')) {
    // The error lists the plugins of the scope. This plugin is one of them.
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
