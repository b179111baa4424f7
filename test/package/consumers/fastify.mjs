import fastifyLameduck, { fastifyLameduck as named } from 'lameduck/fastify';
import serveAndEnd from './fastify-serves-and-ends.cjs';

if (named !== fastifyLameduck) throw new Error('the named export is another plugin than the default one');
await serveAndEnd(fastifyLameduck);
