// What the compiler sees of the package: a program that is right, and one mistake that it must find.
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const duck = lameduck(createServer(), { shutdownDelayDuration: '1s' });
duck.addDestroyHook('pool', () => Promise.resolve());

// @ts-expect-error An option that does not exist is a mistake that the compiler sees.
lameduck(createServer(), { shutdownDelay: '1s' });
