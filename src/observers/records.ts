// The recorders of every request: metrics and the audit log. Each exists only if the settings enable it.
import type { Clock } from '../clock.ts';
import type { PreviousRun } from '../observer.ts';
import type { Settings } from '../settings/table.ts';
import { createAuditLog, type WrittenAuditLog } from './audit/audit-log.ts';
import type { Logging } from './logging.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import type { EventLoopCounts } from './metrics/readers.ts';
import type { MetricsRegistry } from './metrics/registry.ts';

/** RecordsOptions is what the records are made from. */
export interface RecordsOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly registry?: MetricsRegistry | undefined;
  readonly logging: Logging;
  readonly eventLoop: (() => EventLoopCounts) | undefined;
  readonly previousRun: () => PreviousRun | undefined;
}

/** Records are the recorders. A recorder that is not enabled is undefined. */
export interface Records {
  readonly metrics: Metrics | undefined;
  readonly audit: WrittenAuditLog | undefined;
}

/** createRecords throws LAMEDUCK_ERR_SETTINGS_INVALID if the registry does not take the metrics. */
export function createRecords({ settings, clock, registry, logging, eventLoop, previousRun }: RecordsOptions): Records {
  const { auditLogPath } = settings;
  const metrics = createMetrics({
    ...{ settings, clock, registry, eventLoop, previousRun },
    warn: (message) => {
      logging.onWarning(message);
    },
    auditDropped: auditLogPath === '' ? undefined : () => audit?.dropped ?? 0,
  });
  // After the metrics, which may throw: nothing would close the file.
  const audit = createAuditLog({
    path: auditLogPath,
    clock,
    onFailure: (error) => {
      logging.onAuditFailure(auditLogPath, error);
    },
  });
  return { metrics, audit };
}
