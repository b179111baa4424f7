// Waits for a condition that has no event.
import { setTimeout } from 'node:timers/promises';

/** `until()` calls `isSo` repeatedly, for at most ten seconds, until it returns true. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let attempt = 0; !isSo(); attempt++) {
    if (attempt === 2_000) throw new Error(`not so within ten seconds: ${isSo.toString()}`);
    await setTimeout(5);
  }
}
