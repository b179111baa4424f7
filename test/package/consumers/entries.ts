// Imports each entry of the package. .ci/package-checks compiles this file as CommonJS and as an ECMAScript module.
import { createServer } from 'node:http';
import { lameduck, type LameduckOptions } from 'lameduck';
import fastifyLameduck from 'lameduck/fastify';
import { grpcHealth } from 'lameduck/grpc';
import { createElector } from 'lameduck/leader-election';
import { runShutdown } from 'lameduck/testing';
import 'lameduck/register';

const options: LameduckOptions = { shutdownDelayDuration: '1s' };
const duck = lameduck(createServer(), options);
grpcHealth(duck);
createElector({ leaseName: 'shop-worker', lifecycle: duck });
export const used = [fastifyLameduck, runShutdown];

// @ts-expect-error The compiler must reject an unknown option.
lameduck(createServer(), { shutdownDelay: '1s' });
