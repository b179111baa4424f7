// The package's export `lameduck/leader-election`: an elector, which contends for a Lease. It works with or without a
// lifecycle.
import { systemClock, wallTime } from './clock.ts';
import { LameduckError, quoted } from './errors.ts';
import type { Lameduck } from './handle.ts';
import { aloneApi } from './leader-election/api-client/alone.ts';
import { Credentials, inCluster, serviceAccountFolder } from './leader-election/api-client/credentials.ts';
import { connect, type LeaseApi } from './leader-election/api-client/api-client.ts';
import { ElectionLog } from './leader-election/loop/election-log.ts';
import { LeaseElector } from './leader-election/loop/elector.ts';
import { ElectionEvents } from './leader-election/loop/events.ts';
import { readOptions, type CompletedOptions, type ElectorOptions as Options } from './leader-election/options.ts';
import { requestTimeout } from './leader-election/decision/times.ts';
import type { Work } from './leader-election/loop/term.ts';
import { lifecycleOf } from './manage.ts';
import { createLogging } from './observers/logging.ts';
import { thisProcess } from './process/this-process.ts';
import { electionTable } from './settings/election-table.ts';
import { settingTexts } from './settings/text.ts';

export { isLameduckError, LameduckError, type LameduckErrorCode } from './errors.ts';
export type { ApiServer } from './leader-election/api-client/credentials.ts';
export type { Term, Work } from './leader-election/loop/term.ts';
export type { Logger } from './observers/logger.ts';
export type { Duration } from './settings/duration.ts';

/**
 * ElectorOptions names the Lease, and contains the settings of the election. Environment variables override the
 * settings. The other options exist in code only.
 */
export type ElectorOptions = Options<Lameduck>;

/**
 * Elector contends for one Kubernetes Lease. Other processes that contend for the Lease may be written in Go with
 * client-go.
 */
export interface Elector {
  /**
   * `run()` contends for the Lease, and calls `work` each time this process becomes the leader. It resolves when `work`
   * has returned or the elector was stopped. It rejects with the error of `work`, or with LAMEDUCK_ERR_ELECTOR_RUNNING
   * while an earlier call is in progress.
   */
  run(work: Work): Promise<void>;
  /**
   * `stop()` aborts `work` and ends the elector for good. The elector renews the Lease until `work` has settled. If the
   * elector still holds the Lease, it then releases it. The promise of `stop()` resolves with true if the Lease was
   * released. Do not await `stop` inside `work`: `stop` waits for `work`, so neither would ever end.
   */
  stop(): Promise<boolean>;
  /** isLeader tells whether this process is the leader at this moment. It compares the last renewal with the clock. */
  isLeader(): boolean;
  /**
   * remainingMs returns how long this process remains the leader without another renewal, in milliseconds. It returns 0
   * if this process is not the leader.
   */
  remainingMs(): number;
  /**
   * `leader` is the identity of the last leader that the elector has seen. It is undefined if the elector has seen
   * none.
   */
  readonly leader: string | undefined;
}

/**
 * createElector creates an elector. The elector sends no request before its method `run` is called. With the option
 * `lifecycle`, call createElector before `listen()`. If options are invalid, createElector throws
 * LAMEDUCK_ERR_SETTINGS_INVALID, which lists all problems. It may also throw LAMEDUCK_ERR_NOT_IN_CLUSTER or
 * LAMEDUCK_ERR_CREDENTIALS_UNREADABLE. If this process already has an elector for the Lease, it throws
 * LAMEDUCK_ERR_LEASE_TAKEN.
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
  // The metrics, the hook and the check of an elector are named after its Lease. If the lifecycle has another elector
  // whose Lease has the same name in another namespace, the namespace is added to these names.
  const isNamed = managed?.parts.electors.some((countsOf) => countsOf().name === election.name) === true;
  const label = isNamed ? `${election.namespace}/${election.name}` : election.name;
  const elector = new LeaseElector({
    label,
    election,
    log,
    clock: systemClock,
    wall: wallTime,
    random: Math.random,
    connect() {
      // If the elector has a lifecycle, the lifecycle logs the warnings about the elector's settings. Otherwise, the
      // elector logs these warnings.
      if (managed === undefined) for (const warning of warnings) logging.onWarning(warning);
      log.started(settingTexts(electionTable, { ...settings }, sources));
      return open();
    },
    record: (api, uid, message) => {
      events.record(api, uid, message);
    },
    onLoss() {
      if (onLoss === 'shutdown') thisProcess().endAfterLoss(`leadership of ${election.name} lost`, false);
      return onLoss !== 'shutdown';
    },
    exit() {
      thisProcess().endAfterLoss(
        `leader-only work of ${election.name} was still running after this process had lost leadership`,
        true,
      );
    },
  });
  const stop = (limit?: number): Promise<boolean> => elector.stop(limit).finally(release);
  try {
    if (lifecycle !== undefined) join(lifecycle, elector, stop, label, completed);
  } catch (error) {
    release();
    throw error;
  }
  managed?.parts.electors.push(() => elector.counts);
  return {
    run: (work) => elector.run(work),
    stop: () => stop(),
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
  const client = { server, credentials, name, namespace, clock: systemClock, userAgent: 'lameduck leader-election' };
  return () => connect({ ...client, connectTimeout: requestTimeout(election) });
}

function join(
  lifecycle: Lameduck,
  elector: LeaseElector,
  stop: (limit: number) => Promise<boolean>,
  label: string,
  { settings }: CompletedOptions<Lameduck>,
): void {
  const name = `leader-election/${label}`;
  lifecycle.addPreShutdownHook(name, ({ limit }) => stop(limit), { timeout: settings.stopTimeout });
  lifecycle.addLivezCheck(name, () => {
    elector.checkRenewals();
  });
}

const leasesKey = Symbol.for('lameduck.leases/v1');

// Throws if this process already has an elector for a Lease, because two electors in one process would wait for each
// other forever. All copies of this package in the process share the set of Leases.
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
  let isTaken = true;
  return () => {
    // Only the first call of this function removes the Lease from `taken`. At a second call, `taken` may contain the
    // same Lease again, added by a newer elector.
    if (isTaken) taken.delete(lease);
    isTaken = false;
  };
}
