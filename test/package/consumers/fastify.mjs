import fastifyLameduck, { fastifyLameduck as named } from 'lameduck/fastify';
import serveAndEnd from './fastify-serves-and-ends.cjs';

if (named !== fastifyLameduck) throw new Error('the named export and the default export are different plugins');
await serveAndEnd(fastifyLameduck);
