// The Fastify version on which the plugin is tested. The variable FASTIFY_UNDER_TEST names its module. Without the
// variable, it is the installed version.
import type * as fastify from 'fastify';

const specifier = process.env['FASTIFY_UNDER_TEST'] ?? 'fastify';

export const { default: Fastify } = (await import(specifier)) as typeof fastify;
