// Loaded with --import into a program. This module makes lameduck's Clock run sixty times as fast as real time.
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

const factor = 60;
const [now, after] = [performance.now.bind(performance), timers.setTimeout];

// The Clock takes `now()` from the prototype of `performance`, so `now()` must be replaced there.
Object.assign(Object.getPrototypeOf(performance), { now: () => now() * factor });
const hurried = (callback: () => void, milliseconds = 0): NodeJS.Timeout => after(callback, milliseconds / factor);
// The Clock imports setTimeout from node:timers. So replacing only the global function would not speed up the Clock.
for (const place of [globalThis, timers]) Object.assign(place, { setTimeout: hurried });
