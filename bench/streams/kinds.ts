// The kinds of streams that the benchmark opens over real sockets and then drains.

export const streamKinds = ['event streams', 'HTTP/2 streams', 'WebSockets'] as const;
export type StreamKind = (typeof streamKinds)[number];

/** sessionsOf returns the number of HTTP/2 sessions on which `count` streams are open. */
export function sessionsOf(count: number): number {
  return Math.ceil(count / 100);
}
