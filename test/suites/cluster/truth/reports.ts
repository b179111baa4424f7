// Names the events of a kubelet and of a rehearsal in the same way, so that they can be compared. This file has no side
// effects.

/** reportOfProbe describes a failed probe in words that do not depend on the HTTP client. */
export function reportOfProbe(type: string, how: string, output: string): string[] {
  // A refused or broken connection of a probe is left out of the comparison of cluster and rehearsal. Such a probe may
  // run just before the server listens, or while the server ends.
  if (/refused|reset|EOF|hang up|dial tcp/i.test(output)) return [];
  if (how === 'errored' && !/no such file/i.test(output)) return [];
  if (/^(\w+ probe failed:)?\s*$/.test(output)) return [];
  return [`${type.toLowerCase()} probe ${how}`];
}
