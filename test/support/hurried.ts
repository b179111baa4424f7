// Loaded with --import. Makes the time of lameduck's Clock pass sixty times as fast in the program.
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

const factor = 60;
const [now, after] = [performance.now.bind(performance), timers.setTimeout];

performance.now = () => now() * factor;
const hurried = (callback: () => void, milliseconds = 0): NodeJS.Timeout => after(callback, milliseconds / factor);
// The Clock uses the setTimeout of node:timers.
for (const place of [globalThis, timers]) Object.assign(place, { setTimeout: hurried });
