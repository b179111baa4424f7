// A stand-in for whatever a program has to close at its end: a pool of connections to a database, say.
import { setTimeout as sleep } from 'node:timers/promises';

export const pool = {
  async end() {
    await sleep(50);
    console.log('pool closed');
  },
};
