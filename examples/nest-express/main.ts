import { NestFactory } from '@nestjs/core';
import { lameduck } from 'lameduck';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule);

const duck = lameduck(app.getHttpServer()); // call lameduck() before listen(), which starts the lifecycle
// This hook replaces enableShutdownHooks(). onModuleDestroy and similar hooks run after the last response, and the exit
// code is 0.
duck.addDestroyHook('nest', () => app.close());

await app.listen(Number(process.env.PORT ?? 8080));
