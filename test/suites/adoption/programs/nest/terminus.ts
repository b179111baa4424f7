import { NestFactory } from '@nestjs/core';
import { HealthModule } from './health.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(HealthModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000);
}

void bootstrap();
