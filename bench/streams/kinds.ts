// The kinds of streams that the benchmark drains over sockets.

export const streamKinds = ['event streams', 'HTTP/2 streams', 'WebSockets'] as const;
export type StreamKind = (typeof streamKinds)[number];

/** sessionsOf returns the number of HTTP/2 sessions on which `count` streams are open. */
export function sessionsOf(count: number): number {
  return Math.ceil(count / 100);
}
