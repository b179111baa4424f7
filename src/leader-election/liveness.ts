// The livez check of an elector: a leader whose renewals have stopped is restarted, a follower never.
import type { ElectorCounts } from '../observer.ts';
import type { Election } from './state.ts';

// Beyond the lease duration, in milliseconds: what the components of Kubernetes tolerate (L-103).
const tolerance = 20_000;

/** checkRenewals throws if a term is running whose last renewal is too old. */
export function checkRenewals({ renewalAgeMs }: ElectorCounts, { name, leaseDuration }: Election): void {
  if (renewalAgeMs === undefined || renewalAgeMs <= leaseDuration + tolerance) return;
  throw new Error(`failed election to renew leadership on lease ${name}`);
}
