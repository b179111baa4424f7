// Code that each tested compiler compiles: a correct program, and one mistake that the compiler must find.
import { createServer } from 'http';
import { lameduck, LameduckError, type LameduckOptions } from 'lameduck';
import { runShutdown } from 'lameduck/testing';
import 'lameduck/register';

const options: LameduckOptions = { shutdownDelayDuration: '1s' };
export const duck = lameduck(createServer(), options);
export const used = [LameduckError, runShutdown];

// @ts-expect-error The compiler must reject an unknown option.
lameduck(createServer(), { shutdownDelay: '1s' });
