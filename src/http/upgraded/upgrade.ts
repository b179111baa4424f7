// Records that a connection no longer uses HTTP after an upgrade, and with which status the program answers the
// upgrade.
import type { Duplex } from 'node:stream';
import type { HttpRequest } from '../../message.ts';
import type { AuditLog } from '../../observer.ts';
import type { Connection } from '../connection.ts';
import type { Ending } from '../exchange.ts';
import { onFirstStatus } from './first-status.ts';
import { Upgraded } from './socket.ts';

export interface UpgradeOptions {
  readonly now: number;
  /** `count()` counts an upgraded connection as one long-running request. */
  readonly count: (upgraded: Upgraded, ending: Ending) => void;
  readonly audit: AuditLog | undefined;
}

/**
 * takeUpgrade records that a connection has been upgraded, and counts it as a long-running request. `duplex` is the
 * socket that the program receives.
 */
export function takeUpgrade(
  connection: Connection,
  request: HttpRequest,
  duplex: Duplex,
  { now, count, audit }: UpgradeOptions,
): void {
  const upgraded = new Upgraded(connection, request, duplex, now);
  if (!connection.enter({ is: 'upgraded', upgraded })) return;
  count(upgraded, upgraded.ending);
  audit?.onReceived(upgraded, request);
  // Before the shutdown, only the audit log needs the status.
  if (audit === undefined && connection.closeAt === Infinity) return;
  onFirstStatus(duplex, (status) => {
    upgraded.noteStatus(status);
    audit?.onStarted(upgraded, status);
  });
}
