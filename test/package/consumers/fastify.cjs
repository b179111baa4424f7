const required = require('lameduck/fastify');
const serveAndEnd = require('./fastify-serves-and-ends.cjs');

serveAndEnd(required).then(() => serveAndEnd(required.fastifyLameduck));
