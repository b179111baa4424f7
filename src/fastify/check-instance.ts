// Checks that the Fastify plugin is registered once, on the root instance.
import type { FastifyInstance } from 'fastify';
import { LameduckError, quoted } from '../errors.ts';

/**
 * checkInstance throws LAMEDUCK_ERR_PLUGIN_ENCAPSULATED unless the instance is the root. On any other instance, only
 * the routes of that instance would see `app.lameduck`. It throws LAMEDUCK_ERR_PLUGIN_DUPLICATE if the application
 * already has a `lameduck`.
 */
export function checkInstance(app: FastifyInstance): void {
  // Only the root instance of Fastify has `server` as its own property. An encapsulated instance inherits the property.
  if (!Object.hasOwn(app, 'server')) {
    // An encapsulated instance of Fastify has its own scope, and its `pluginName` lists the names of the plugins of
    // this scope. The first name in the list belongs to the plugin that created the scope.
    const [outer] = app.pluginName.split(' -> ', 1);
    throw new LameduckError(
      'LAMEDUCK_ERR_PLUGIN_ENCAPSULATED',
      `fastifyLameduck: registered inside ${quoted(outer)}, which has its own scope: expected the root instance, or a plugin made with fastify-plugin`,
    );
  }
  if (app.hasDecorator('lameduck')) {
    throw new LameduckError(
      'LAMEDUCK_ERR_PLUGIN_DUPLICATE',
      'fastifyLameduck: the application already has a decorator named lameduck: expected a single registration of the plugin, and no other decorator with this name',
    );
  }
}
