// The one way in which tests put a lifecycle together: as `lameduck()` does, without a process and without a log.
import { systemClock, type Clock } from '../../src/clock.ts';
import { createParts, type Parts, type PartsOptions } from '../../src/parts.ts';
import { installSeam } from '../../src/http/seam.ts';
import type { RequestFunctions } from '../../src/http/in-flight/request-functions.ts';
import type { Server } from '../../src/http/server.ts';
import type { AuditLog, Observer } from '../../src/observer.ts';
import { silent } from '../../src/observers/logging.ts';
import { createMetrics } from '../../src/observers/metrics/metrics.ts';
import type { MetricsRegistry } from '../../src/observers/metrics/registry.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';

export interface ManageOptions {
  readonly functions?: RequestFunctions;
  readonly clock?: Clock;
  readonly observer?: Observer;
  readonly onStart?: PartsOptions['onStart'];
  readonly registry?: MetricsRegistry | undefined;
  readonly audit?: AuditLog | undefined;
  /** As `register` does it to a program, whose servers listen by then. */
  readonly isGuest?: boolean;
}

/** manage gives servers a lifecycle of their own, on real time and unobserved unless told otherwise; it has not begun. */
export function manage(
  servers: readonly Server[],
  options: SettingsOptions = {},
  {
    clock = systemClock,
    observer = silent,
    onStart = () => undefined,
    functions = {},
    registry,
    audit,
    isGuest = false,
  }: ManageOptions = {},
): Parts {
  const { settings, sources } = completeSettings(options, {});
  const warn = (message: string): void => {
    observer.onWarning(message);
  };
  const parts = createParts({
    servers,
    settings,
    sources,
    clock,
    observer,
    functions,
    answersOnOwnServers: !isGuest,
    metrics: createMetrics({ settings, clock, registry, warn }),
    audit,
    onStart,
  });
  for (const server of servers) {
    installSeam(server, parts.traffic);
  }
  void parts.handle.ended.then(() => {
    parts.closes.settle();
  });
  return parts;
}
