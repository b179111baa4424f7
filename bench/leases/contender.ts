// A process that contends for a Lease, and reports its own CPU time before it exits. Without the URL of an API server,
// the process contends for no Lease. It then reports the CPU time of an idle process.
import { setTimeout as sleep } from 'node:timers/promises';
import { createElector } from '../../src/leader-election.ts';

const [url = '', leaseName = '', seconds = '0'] = process.argv.slice(2);
const warmUp = 5_000;

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
if (url !== '') {
  const elector = createElector({ leaseName, leaseNamespace: 'ns', logger, apiServer: { url } });
  void elector.run(() => new Promise(() => undefined));
}
await sleep(warmUp);
const before = process.cpuUsage();
await sleep(Number(seconds) * 1_000);
const { user, system } = process.cpuUsage(before);
process.send?.((user + system) / 1_000, () => process.exit());
