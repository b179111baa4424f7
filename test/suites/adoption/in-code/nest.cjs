// A Nest program with Nest's own shutdown hooks, which also calls lameduck().
const { NestFactory } = require('@nestjs/core');
const { FastifyAdapter } = require('@nestjs/platform-fastify');
const { lameduck } = require('lameduck');
const { AppModule } = require('../nest/dist/app.js');

async function bootstrap() {
  const adapter = process.env.ADAPTER === 'fastify' ? [new FastifyAdapter()] : [];
  const app = await NestFactory.create(AppModule, ...adapter, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  lameduck(app.getHttpServer());
  await app.listen(Number(process.env.PORT), '0.0.0.0');
}

void bootstrap();
