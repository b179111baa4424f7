// The application's own logger, if it has one.
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../observers/logger.ts';

/** loggerOf returns the logger of an application, or undefined for Fastify's placeholder, which has no level. */
export function loggerOf({ log }: FastifyInstance): Logger | undefined {
  return typeof (log as { level?: unknown }).level === 'string' ? log : undefined;
}
