import { setTimeout as sleep } from 'node:timers/promises';
import { lameduck } from 'lameduck';
import { createElector } from 'lameduck/leader-election';

const duck = lameduck([], { shutdownDelayDuration: 0 });
// At SIGTERM, the job's AbortSignal aborts. When the job has ended, the elector releases the Lease. Another replica
// leads within two seconds after the release.
const elector = createElector({ leaseName: 'shop-worker', lifecycle: duck });

await elector.run(async ({ signal, token, assertLeader }) => {
  while (!signal.aborted) {
    assertLeader(); // before each write; only a token check in the database rejects a late write
    console.log(`job done with token ${token}`);
    await sleep(1_000, undefined, { signal });
  }
});
