// Creates lifecycles for tests, in the same way as `lameduck()`. But these lifecycles do not end the process, and write
// no log.
import { systemClock, type Clock } from '../../src/clock.ts';
import { createParts, type Parts, type PartsOptions } from '../../src/parts.ts';
import { interceptServerEvents } from '../../src/http/server-events.ts';
import type { RequestFunctions } from '../../src/http/in-flight/request-functions.ts';
import type { Server } from '../../src/http/server.ts';
import type { AuditLog, Observer } from '../../src/observer.ts';
import { silent } from '../../src/observers/logging.ts';
import { createMetrics } from '../../src/observers/metrics/lifecycle-metrics.ts';
import type { MetricsRegistry } from '../../src/observers/metrics/registry.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { seededRandom } from '../../src/cli/rehearsal/random.ts';

export interface ManageOptions {
  readonly functions?: RequestFunctions;
  readonly clock?: Clock;
  /**
   * `random()` decides at which time each connection gets `Connection: close`. By default, it has the same seed in each
   * test, so these times are the same in each test.
   */
  readonly random?: (() => number) | undefined;
  readonly observer?: Observer;
  readonly onStart?: PartsOptions['onStart'];
  readonly signOfLife?: () => void;
  readonly registry?: MetricsRegistry | undefined;
  readonly audit?: AuditLog | undefined;
  /**
   * Whether to create the lifecycle in the same way as lameduck/register. If true, the program's servers answer neither
   * probes nor scrapes.
   */
  readonly isUnderRegister?: boolean;
}

/** `manage()` gives servers a lifecycle that has not started. By default, it uses the system clock and no observer. */
export function manage(
  servers: readonly Server[],
  options: SettingsOptions = {},
  {
    clock = systemClock,
    random = seededRandom(1),
    observer = silent,
    onStart = () => undefined,
    functions = {},
    signOfLife,
    registry,
    audit,
    isUnderRegister = false,
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
    random,
    signOfLife,
    observer,
    functions,
    answersOnOwnServers: !isUnderRegister,
    metrics: createMetrics({ settings, clock, registry, warn }),
    audit,
    onStart,
  });
  for (const server of servers) {
    interceptServerEvents(server, parts.traffic);
  }
  void parts.handle.ended.then(() => {
    parts.closes.settle();
  });
  return parts;
}
