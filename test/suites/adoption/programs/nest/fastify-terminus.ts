import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { HealthModule } from './health.js';

async function bootstrap(): Promise<void> {
  const logger = ['error' as const, 'warn' as const];
  const app = await NestFactory.create<NestFastifyApplication>(HealthModule, new FastifyAdapter(), { logger });
  app.enableShutdownHooks();
  await app.listen(Number(process.env.PORT ?? 3000), '0.0.0.0');
}

void bootstrap();
