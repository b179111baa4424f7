// Preloaded into a program whose time shall pass sixty times as fast, as far as the Clock sees it.
import { performance } from 'node:perf_hooks';

const factor = 60;
const [now, after] = [performance.now.bind(performance), globalThis.setTimeout];

performance.now = () => now() * factor;
globalThis.setTimeout = ((callback: () => void, milliseconds = 0) =>
  after(callback, milliseconds / factor)) as typeof setTimeout;
