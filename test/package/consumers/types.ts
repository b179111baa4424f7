// Code that a user compiles with the package: a correct program, and one mistake that the compiler must find.
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';
import { runShutdown, type ShutdownRecord } from 'lameduck/testing';

const duck = lameduck(createServer(), { shutdownDelayDuration: '1s' });
duck.addDestroyHook('pool', () => Promise.resolve());

// @ts-expect-error The compiler must reject an unknown option.
lameduck(createServer(), { shutdownDelay: '1s' });

const { record, result } = await runShutdown(createServer(), async (origin) => origin.length, { during: '/orders' });
const ended: ShutdownRecord = record;
const length: number = result;
const { result: text } = await runShutdown(createServer(), (origin) => `${origin}${String(length)}${ended.reason}`);
text.toUpperCase();

// @ts-expect-error The origin that runShutdown() passes to its callback is a string.
await runShutdown(createServer(), (port: number) => port);

// @ts-expect-error runShutdown() accepts an application only with the Fastify plugin.
await runShutdown({ server: createServer(), listen: async () => undefined, ready: async () => undefined }, () => 1);
