// The one way in which tests put a lifecycle together: as `lameduck()` does, without a process and without a log.
import { systemClock, type Clock } from '../../src/clock.ts';
import { createHandle, type Parts } from '../../src/handle.ts';
import { installSeam } from '../../src/http/seam.ts';
import type { Server } from '../../src/http/server.ts';
import type { Observer } from '../../src/observer.ts';
import { silent } from '../../src/observers/logging.ts';
import { budgetOf } from '../../src/settings/budget.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';

export interface ManageOptions {
  readonly clock?: Clock;
  readonly observer?: Observer;
}

/** manage gives servers a lifecycle of their own, on real time and unobserved unless told otherwise; it has not begun. */
export function manage(
  servers: readonly Server[],
  options: SettingsOptions = {},
  { clock = systemClock, observer = silent }: ManageOptions = {},
): Parts {
  const { settings, sources } = completeSettings(options, {});
  const parts = createHandle({
    servers,
    settings,
    clock,
    observer,
    onStart(addresses) {
      const { sum } = budgetOf(settings, parts.hooks.longestPreShutdown);
      observer.onStart({ addresses, budgetSum: sum, sources });
    },
  });
  for (const server of servers) installSeam(server, parts.traffic);
  return parts;
}
