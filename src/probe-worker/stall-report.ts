// The log line about a stall, that is, a blocked event loop. The main thread cannot write the line while it is blocked,
// so the probe thread writes it (P-118).
import { lineText } from '../observers/line-writer.ts';
import type { ThreadData } from './messages.ts';

type StallLineData = Pick<ThreadData, 'readyzStallLimit' | 'livezStallLimit' | 'logFormat'>;

/**
 * stallLine returns the log line about a stall. The line says how long the event loop has been blocked so far, and
 * after how long `/readyz` and `/livez` fail.
 */
export function stallLine(
  stalledMs: number,
  { readyzStallLimit: readyzStallLimitMs, livezStallLimit: livezStallLimitMs, logFormat }: StallLineData,
): string {
  return lineText(logFormat, 'warn', { stalledMs, readyzStallLimitMs, livezStallLimitMs }, 'event loop blocked');
}
