import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(process.env.PORT ?? 3000);
}

void bootstrap();
