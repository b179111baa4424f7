// The package's export for Fastify: a plugin that gives an application the lifecycle.
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { checkInstance } from './fastify/check-instance.ts';
import { replaceClose } from './fastify/close.ts';
import { answerInjectedProbes } from './fastify/inject.ts';
import { loggerOf } from './fastify/logger.ts';
import { readRoutes, routeOf, type LameduckRouteConfig } from './fastify/routes.ts';
import { joinServers, listenNoMore } from './fastify/servers.ts';
import type { Lameduck } from './handle.ts';
import { manage, type LameduckOptions } from './manage.ts';
import { checkPackage } from './package-version.ts';
import { checkOptions } from './arguments.ts';
import { isDisabled } from './settings/environment.ts';

export type { LameduckRouteConfig } from './fastify/routes.ts';
export type { Lameduck, ShutdownOptions } from './handle.ts';
export type { LameduckOptions } from './manage.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** `lameduck` is the handle of the application's lifecycle. It is the same object that `lameduck()` returns. */
    readonly lameduck: Lameduck;
  }
  interface FastifyContextConfig {
    /** `config.lameduck` of a Fastify route contains the route's options for this plugin, such as `longRunning`. */
    readonly lameduck?: LameduckRouteConfig | undefined;
  }
}

const plugin: FastifyPluginCallback<LameduckOptions> = (app, options, done) => {
  try {
    install(app, options);
    done();
  } catch (error) {
    done(error as Error);
  }
};

/**
 * fastifyLameduck is a Fastify plugin that gives an application the lifecycle of a Kubernetes apiserver. Register it on
 * the root instance before the routes: `await app.register(fastifyLameduck, options)`. `app.lameduck` is then the
 * handle. The registration rejects with LAMEDUCK_ERR_PLUGIN_ENCAPSULATED, LAMEDUCK_ERR_PLUGIN_DUPLICATE,
 * LAMEDUCK_ERR_PACKAGE_OUTDATED or an error of `lameduck()`.
 */
export const fastifyLameduck: FastifyPluginCallback<LameduckOptions> = Object.assign(plugin, {
  // Set the properties that the package fastify-plugin would set. The package itself cannot be bundled into ECMAScript
  // modules, so it is not used.
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'lameduck',
  [Symbol.for('plugin-meta')]: { name: 'lameduck' },
});

export default fastifyLameduck;

function install(app: FastifyInstance, options: LameduckOptions): void {
  checkPackage('fastifyLameduck', 'fastify', app.version, '5.8');
  checkInstance(app);
  checkOptions('fastifyLameduck', options);
  const given = { ...options, logger: options.logger ?? loggerOf(app), route: options.route ?? routeOf };
  // Remove the options that Fastify reads from the options of every plugin. lameduck would reject them as unknown
  // options.
  for (const name of ['prefix', 'logSerializers']) Reflect.deleteProperty(given, name);
  const { parts } = manage([app.server], given, process.env);
  app.decorate('lameduck', parts.handle);
  if (isDisabled(process.env) === true) return;
  replaceClose(app, parts.handle);
  joinServers(app, parts);
  listenNoMore(app, parts.handle);
  readRoutes(app, parts.traffic, parts.hasMetrics);
  answerInjectedProbes(app, parts.traffic);
}
