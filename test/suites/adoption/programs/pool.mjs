// Stands for a resource that a program must close before the program exits, such as a pool of database connections.
import { setTimeout as sleep } from 'node:timers/promises';

export const pool = {
  async end() {
    await sleep(50);
    console.log('pool closed');
  },
};
