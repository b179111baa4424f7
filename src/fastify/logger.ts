// Finds the application's own logger.
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../observers/logger.ts';

/**
 * loggerOf returns the logger of an application. It returns undefined if the application has no logger but Fastify's
 * placeholder, which has no level.
 */
export function loggerOf({ log }: FastifyInstance): Logger | undefined {
  return typeof (log as { level?: unknown }).level === 'string' ? log : undefined;
}
