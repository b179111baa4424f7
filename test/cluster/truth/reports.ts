// The names by which a kubelet's events and a rehearsal's are compared. Pure.

/** reportOfProbe returns the report of a probe that failed, in words that do not depend on the HTTP client. */
export function reportOfProbe(type: string, how: string, output: string): string[] {
  // Whether a probe comes just before a server listens, or while it ends, is chance.
  if (/refused|reset|EOF|hang up|dial tcp/i.test(output)) return [];
  if (how === 'errored' && !/no such file/i.test(output)) return [];
  if (/^(\w+ probe failed:)?\s*$/.test(output)) return [];
  return [`${type.toLowerCase()} probe ${how}`];
}
