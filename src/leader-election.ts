// The package's export for leader election: an elector on a Lease, with or without a lifecycle.
import { systemClock, wallTime } from './clock.ts';
import { LameduckError, quoted } from './errors.ts';
import type { Lameduck } from './handle.ts';
import { aloneApi } from './leader-election/alone.ts';
import { Credentials, inCluster, serviceAccountFolder } from './leader-election/api-server.ts';
import { connect, type LeaseApi } from './leader-election/api-client.ts';
import { ElectionLog } from './leader-election/election-log.ts';
import { LeaseElector } from './leader-election/elector.ts';
import { ElectionEvents } from './leader-election/events.ts';
import { checkRenewals } from './leader-election/liveness.ts';
import { readOptions, type CompletedOptions, type ElectorOptions as Options } from './leader-election/options.ts';
import type { Work } from './leader-election/term.ts';
import { lifecycleOf } from './manage.ts';
import { createLogging } from './observers/logging.ts';
import { thisProcess } from './process/this-process.ts';
import { electionTable } from './settings/election-table.ts';
import { settingTexts } from './settings/text.ts';

export { isLameduckError, LameduckError, type LameduckErrorCode } from './errors.ts';
export type { ApiServer } from './leader-election/api-server.ts';
export type { Term, Work } from './leader-election/term.ts';
export type { Logger } from './observers/logger.ts';
export type { Duration } from './settings/duration.ts';

/** ElectorOptions is what `createElector` takes: the settings, which the environment overrules, and what code alone has. */
export type ElectorOptions = Options<Lameduck>;

/** Elector contends for one Lease of Kubernetes, beside other processes that contend for it, also in Go. */
export interface Elector {
  /**
   * run contends, and calls `work` for each term. It resolves when the work has returned or the elector was stopped, and
   * rejects with the work's error. Rejects with LAMEDUCK_ERR_ELECTOR_RUNNING while an earlier call is in progress.
   */
  run(work: Work): Promise<void>;
  /**
   * stop aborts the work, and ends the elector. Renewals continue until the work has settled. If this elector still holds
   * the Lease then, it releases the Lease. Resolves with whether it has released the Lease.
   */
  stop(): Promise<boolean>;
  /** isLeader tells from the clock whether this process leads at this moment. */
  isLeader(): boolean;
  /** remainingMs returns how long this process still leads if it does not renew the Lease, in milliseconds. */
  remainingMs(): number;
  /** The identity of the leader that was seen last; undefined before the first. */
  readonly leader: string | undefined;
}

/**
 * createElector makes an elector. Nothing is sent before `run`. With a `lifecycle`, call it before `listen()`. Throws
 * LAMEDUCK_ERR_SETTINGS_INVALID with every problem, LAMEDUCK_ERR_NOT_IN_CLUSTER, LAMEDUCK_ERR_CREDENTIALS_UNREADABLE, or
 * LAMEDUCK_ERR_LEASE_TAKEN if this process has an elector for the Lease.
 */
export function createElector(options: ElectorOptions): Elector {
  const environment = process.env;
  const completed = readOptions(options, environment, serviceAccountFolder);
  const { election, settings, sources, code, isAlone, warnings } = completed;
  const { lifecycle, onLeaderChange, onLoss } = code;
  const managed = lifecycle === undefined ? undefined : lifecycleOf(lifecycle);
  const logging = createLogging(code.logger ?? managed?.log, completed.log);
  const log = new ElectionLog(logging.log, election, onLeaderChange);
  const open = isAlone ? () => Promise.resolve(aloneApi(wallTime())) : connection(completed, environment);
  const events = new ElectionEvents(election, systemClock, wallTime);
  const release = take(`${election.namespace}/${election.name}`);
  const elector = new LeaseElector({
    ...{ election, log, clock: systemClock, wall: wallTime, random: Math.random },
    connect() {
      // A lifecycle reports them in its own start line.
      if (managed === undefined) for (const warning of warnings) logging.onWarning(warning);
      log.started(settingTexts(electionTable, { ...settings }, sources));
      return open();
    },
    record: (api, message) => {
      events.record(api, message);
    },
    onLoss() {
      if (onLoss === 'shutdown') thisProcess().endAfterLoss(`leadership of ${election.name} lost`, false);
      return onLoss !== 'shutdown';
    },
    exit() {
      thisProcess().endAfterLoss(`work on ${election.name} outlived its leadership`, true);
    },
  });
  const stop = (): Promise<boolean> => elector.stop().finally(release);
  try {
    if (lifecycle !== undefined) join(lifecycle, elector, stop, completed);
  } catch (error) {
    release();
    throw error;
  }
  managed?.parts.electors.push(() => elector.counts);
  return {
    run: (work) => elector.run(work),
    stop,
    isLeader: () => elector.remainingMs() > 0,
    remainingMs: () => elector.remainingMs(),
    get leader() {
      return elector.leader;
    },
  };
}

function connection(
  { election, code }: CompletedOptions<Lameduck>,
  environment: Readonly<Record<string, string | undefined>>,
): () => Promise<LeaseApi> {
  const server = code.apiServer ?? inCluster(environment, serviceAccountFolder);
  const credentials = new Credentials(server, systemClock);
  const { name, namespace } = election;
  return () => connect({ server, credentials, name, namespace, userAgent: 'lameduck leader-election' });
}

function join(
  lifecycle: Lameduck,
  elector: LeaseElector,
  stop: () => Promise<boolean>,
  { election, settings }: CompletedOptions<Lameduck>,
): void {
  const name = `leader-election/${election.name}`;
  lifecycle.addPreShutdownHook(name, stop, { timeout: settings.stopTimeout });
  lifecycle.addLivezCheck(name, () => {
    checkRenewals(elector.counts, election);
  });
}

const leasesKey = Symbol.for('lameduck.leases/v1');

// Two electors of one process are rivals: the second would wait for the first. Copies of this package share the list.
function take(lease: string): () => void {
  const registry = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  const taken = (registry[leasesKey] ??= new Set());
  if (taken.has(lease)) {
    throw new LameduckError(
      'LAMEDUCK_ERR_LEASE_TAKEN',
      `this process has an elector for the Lease ${quoted(lease)} already`,
    );
  }
  taken.add(lease);
  return () => {
    taken.delete(lease);
  };
}
