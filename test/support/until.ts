// Waiting for a fact that nothing announces.
import { setTimeout } from 'node:timers/promises';

/** until asks again and again, ten seconds at most, until the answer is yes. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let attempt = 0; !isSo(); attempt++) {
    if (attempt === 2_000) throw new Error(`not so within ten seconds: ${isSo.toString()}`);
    await setTimeout(5);
  }
}
