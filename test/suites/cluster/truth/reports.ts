// Describes a failed probe with the same words for a kubelet and for a rehearsal, so that their reports can be
// compared. This file has no side effects.

/**
 * reportOfProbe describes a failed probe. Its text is the same on the cluster and in a rehearsal, although their HTTP
 * clients report errors in different words.
 */
export function reportOfProbe(type: string, how: string, output: string): string[] {
  // Ignore a probe whose connection was refused or broken. It is a matter of chance whether a probe runs just before
  // the server listens, or just as the server exits. So the cluster and the rehearsal could report different numbers of
  // such probes.
  if (/refused|reset|EOF|hang up|dial tcp/i.test(output)) return [];
  if (how === 'errored' && !/no such file/i.test(output)) return [];
  if (/^(\w+ probe failed:)?\s*$/.test(output)) return [];
  return [`${type.toLowerCase()} probe ${how}`];
}
