// Creates the metrics and the audit log, which both record requests. Each of the two exists only if the settings enable
// it.
import type { Clock } from '../clock.ts';
import type { PreviousRun } from '../observer.ts';
import type { Settings } from '../settings/table.ts';
import { createAuditLog, type WrittenAuditLog } from './audit/audit-log.ts';
import type { Logging } from './logging.ts';
import { createMetrics, type Metrics } from './metrics/lifecycle-metrics.ts';
import type { EventLoopCounts } from './metrics/collectors.ts';
import type { MetricsRegistry } from './metrics/registry.ts';

export interface RecordsOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly registry?: MetricsRegistry | undefined;
  readonly logging: Logging;
  readonly eventLoop: (() => EventLoopCounts) | undefined;
  readonly previousRun: () => PreviousRun | undefined;
}

export interface Records {
  readonly metrics: Metrics | undefined;
  readonly audit: WrittenAuditLog | undefined;
}

/**
 * createRecords creates the metrics and the audit log. It throws LAMEDUCK_ERR_SETTINGS_INVALID if the program's
 * registry rejects a metric.
 */
export function createRecords({ settings, clock, registry, logging, eventLoop, previousRun }: RecordsOptions): Records {
  const { auditLogPath } = settings;
  const metrics = createMetrics({
    settings,
    clock,
    registry,
    eventLoop,
    previousRun,
    warn: (message) => {
      logging.onWarning(message);
    },
    auditDropped: auditLogPath === '' ? undefined : () => audit?.dropped ?? 0,
  });
  // Open the audit log only after the metrics have been created. Creating the metrics may throw, and an open audit log
  // would then never be closed.
  const audit = createAuditLog({
    path: auditLogPath,
    clock,
    onFailure: (error) => {
      logging.onAuditFailure(auditLogPath, error);
    },
  });
  return { metrics, audit };
}
