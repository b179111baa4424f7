// The lifecycle under `lameduck/register`: all servers of the program drain together, and then the program's own signal
// listeners run.
import type { Server as NetServer } from 'node:net';
import { isFree, type Server } from '../http/server.ts';
import { addServer, install } from '../manage.ts';
import type { Parts } from '../parts.ts';
import { explainBudget, withinBudget } from '../settings/budget.ts';
import { formatDuration } from '../settings/duration.ts';
import { readSettings, type CompletedSettings } from '../settings/complete.ts';
import type { Environment } from '../settings/environment.ts';
import { usualProbePort } from '../settings/probe-port.ts';
import { giveWay } from './give-way.ts';

/**
 * ProgramLifecycle is the lifecycle of a program under `lameduck/register`. It begins when the first server listens.
 */
export class ProgramLifecycle {
  readonly #environment: Environment;
  #parts: Parts | undefined;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * `add()` gives the lifecycle to a server that has just begun to listen. It does nothing if the server is not an HTTP
   * server or already has a lifecycle. It also does nothing after the shutdown has begun.
   */
  add(server: unknown): void {
    if (!isFree(server) || this.#parts?.handle.signals.shutdownInitiated.hasSignaled === true) return;
    if (this.#parts === undefined) this.#parts = begin([server], this.#environment);
    else addServer(this.#parts, server);
  }

  /**
   * addPrimary adds a primary of node:cluster to the lifecycle. `listener` is the server in the primary whose listening
   * socket the workers share. It is undefined if the workers share no listening socket.
   */
  addPrimary(listener: NetServer | undefined): void {
    this.#parts ??= begin([], this.#environment, listener);
  }
}

function begin(servers: readonly Server[], environment: Environment, listener?: NetServer): Parts {
  const { problems, ...completed } = readSettings({}, environment, {}, { probePort: usualProbePort });
  const problem = problems.length === 0 ? undefined : `invalid settings, defaults are used: ${problems.join('; ')}`;
  const registerOptions = { problem, listener };
  const lifecycle = install(servers, shortened(completed), environment, registerOptions);
  if (completed.sources.probePort === 'default') {
    giveWay(usualProbePort, async () => {
      await lifecycle.releaseProbePort();
      lifecycle.parts.warn(
        `lameduck has no probe port, because the program itself listens on port ${String(usualProbePort)}`,
      );
    });
  }
  return lifecycle.parts;
}

// Shortens `shutdownDelayDuration` and `destroyHookTimeout` if they do not fit into the shutdown budget. An error would
// stop the program, which `lameduck/register` must never do (P-075).
function shortened(completed: CompletedSettings): CompletedSettings {
  const { settings, sources, warnings } = completed;
  const fitting = withinBudget(settings);
  if (fitting === settings) return completed;
  const { sum } = explainBudget(settings, 0, sources);
  const changes = (['shutdownDelayDuration', 'destroyHookTimeout'] as const)
    .filter((name) => fitting[name] !== settings[name])
    .map((name) => `${name} is shortened to ${formatDuration(fitting[name])}`);
  const warning = `${changes.join(' and ')} to fit into the shutdown budget: ${sum}`;
  return { ...completed, settings: fitting, warnings: [...warnings, warning] };
}
