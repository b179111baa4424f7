// The log line about a stall. The probe thread writes it, because the main thread is blocked (P-118).
import { lineText } from '../observers/line-writer.ts';
import { formatDuration } from '../settings/duration.ts';
import type { ThreadData } from './messages.ts';

type StallLineData = Pick<ThreadData, 'readyzStallLimit' | 'livezStallLimit' | 'logFormat'>;

/** stallLine is the line that says for how long the event loop has been blocked, and which endpoints fail. */
export function stallLine(stalledMs: number, limits: StallLineData): string {
  const parts = [
    ...consequence('/readyz', limits.readyzStallLimit, stalledMs),
    ...consequence('/livez', limits.livezStallLimit, stalledMs),
  ];
  const message = `event loop blocked: for ${formatDuration(stalledMs)}; on the probe port ${parts.join(' and ')}`;
  return lineText(limits.logFormat, 'warn', { stalledMs }, message);
}

function consequence(endpoint: string, limit: number, stalledMs: number): string[] {
  if (limit === 0) return [];
  return [`${endpoint} fails ${stalledMs >= limit ? 'from now on' : `after ${formatDuration(limit)}`}`];
}
