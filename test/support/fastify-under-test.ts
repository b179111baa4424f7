// The version of Fastify on which the plugin is tested: the module that FASTIFY_UNDER_TEST names, or else the installed
// one.
import type * as fastify from 'fastify';

const specifier = process.env['FASTIFY_UNDER_TEST'] ?? 'fastify';

export const { default: Fastify } = (await import(specifier)) as typeof fastify;
