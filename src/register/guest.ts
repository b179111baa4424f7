// The lifecycle under `lameduck/register`: all servers of the program drain as one, and then its own signal listeners run.
import type { Server as NetServer } from 'node:net';
import { isFree, type Server } from '../http/server.ts';
import { addServer, install } from '../manage.ts';
import type { Parts } from '../parts.ts';
import { cutDelay, explainBudget } from '../settings/budget.ts';
import { formatDuration } from '../settings/duration.ts';
import { readSettings, type CompletedSettings } from '../settings/complete.ts';
import type { Environment } from '../settings/environment.ts';
import { usualProbePort } from '../settings/probe-port.ts';
import { giveWay } from './give-way.ts';

let parts: Parts | undefined;

/**
 * accommodate gives a server that has just begun to listen the lifecycle. It ignores anything but an HTTP server, a server that
 * has a lifecycle, and a server that listens after the shutdown has begun.
 */
export function accommodate(server: unknown, environment: Environment): void {
  if (!isFree(server) || parts?.handle.signals.shutdownInitiated.hasSignaled === true) return;
  if (parts === undefined) parts = begin([server], environment);
  else addServer(parts, server);
}

/** accommodatePrimary gives a primary of node:cluster the lifecycle when the first listener of its workers listens. */
export function accommodatePrimary(listener: NetServer, environment: Environment): void {
  parts ??= begin([], environment, listener);
}

function begin(servers: readonly Server[], environment: Environment, listener?: NetServer): Parts {
  const { problems, ...completed } = readSettings({}, environment, {}, { probePort: usualProbePort });
  const problem = problems.length === 0 ? undefined : `settings have their defaults: ${problems.join('; ')}`;
  const guest = { problem, listener };
  const lifecycle = install(servers, withinBudget(completed), environment, guest);
  if (completed.sources.probePort === 'default') {
    giveWay(usualProbePort, async () => {
      await lifecycle.releaseProbePort();
      lifecycle.parts.warn(`the program listens on ${String(usualProbePort)} itself: there is no probe port`);
    });
  }
  return lifecycle.parts;
}

// A delay that does not fit into the budget is cut, because `lameduck/register` must not stop the program (P-075).
function withinBudget(completed: CompletedSettings): CompletedSettings {
  const { settings, sources, warnings } = completed;
  const fitting = cutDelay(settings);
  if (fitting === settings) return completed;
  const { sum } = explainBudget(settings, 0, sources);
  const delay = formatDuration(fitting.shutdownDelayDuration);
  const warning = `shutdownDelayDuration is cut to ${delay}, which is what fits into the shutdown budget: ${sum}`;
  return { ...completed, settings: fitting, warnings: [...warnings, warning] };
}
