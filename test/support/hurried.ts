// Preloaded into a program whose time shall pass sixty times as fast, as far as the Clock sees it.
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

const factor = 60;
const [now, after] = [performance.now.bind(performance), timers.setTimeout];

performance.now = () => now() * factor;
const hurried = (callback: () => void, milliseconds = 0): NodeJS.Timeout => after(callback, milliseconds / factor);
// The Clock takes the second one.
for (const place of [globalThis, timers]) Object.assign(place, { setTimeout: hurried });
