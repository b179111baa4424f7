// An account is the record of everything that happened to one pod. It is made from the pod's own log, and from the
// Kubernetes events of the kubelet or the events of the rehearsal. This file compares the account of a pod on the
// cluster with the account of the same pod in a rehearsal. It has no side effects.
import type { Line } from '../programs/told-server.ts';

/**
 * Exit has the exit code and the exit reason that the kubelet or the rehearsal reported for one run of a container.
 */
export interface Exit {
  readonly container: string;
  readonly code: number | undefined;
  readonly reason: string | undefined;
}

/**
 * Account is the record of everything that happened to one pod. Its times are milliseconds since 1970, and come from
 * one clock.
 */
export interface Account {
  readonly lines: readonly Line[];
  /**
   * The exits of all containers of the pod, grouped by container. The exits of one container are in the order in which
   * they happened.
   */
  readonly exits: readonly Exit[];
  /**
   * The events that the kubelet or the rehearsal reported about the pod, such as a failed probe, as short texts without
   * duplicates.
   */
  readonly reports: ReadonlySet<string>;
  readonly readiness: readonly { readonly at: number; readonly isReady: boolean }[];
  /** The time at which the test deleted the pod. Undefined if the pod was evicted instead. */
  readonly deletedAt: number | undefined;
}

/**
 * Row is one row of a pod's table in docs/rehearsal-truth.md. It has a property of the pod, with its values on the
 * cluster and in the rehearsal.
 */
export interface Row {
  readonly what: string;
  readonly onCluster: string;
  readonly inRehearsal: string;
  readonly agrees: boolean;
}

// How many milliseconds a time on the cluster may differ from the same time in the rehearsal. `afterSignal` is the
// limit for times since SIGTERM, and `otherSteps` the limit for all other times.
const afterSignal = 100;
const otherSteps = 1_500;

// If more than this many milliseconds are between the exit of a container and its next start, the kubelet delayed the
// start by a back-off.
const backOff = 4_000;

// The kubelet adds a random time of up to half the length of a back-off to the back-off.
const jitter = 1.5;

interface Answers {
  readonly answer: string;
  readonly count: number;
  /**
   * Milliseconds from the start of this run of the container to the first of `count` consecutive probes with the same
   * response.
   */
  readonly since: number;
}

/** Run is one run of a container. */
interface Run {
  readonly container: string;
  readonly startedAt: number;
  readonly probes: ReadonlyMap<string, readonly Answers[]>;
  readonly signaledAt: number | undefined;
  /**
   * The time of the last log line of this run of the container. This is the line about the exit of the container, or,
   * if the kubelet killed the container, its last line before SIGKILL.
   */
  readonly endedAt: number;
  readonly exit: string;
}

/**
 * `compare()` compares the record of a pod on the cluster with the record of the same pod in a rehearsal. It returns
 * one row for each compared property of the pod.
 */
export function compare(cluster: Account, rehearsal: Account): Row[] {
  const [here, there] = [runsOf(cluster), runsOf(rehearsal)];
  const names = [...new Set([...here, ...there].map(({ container }) => container))];
  const rows = names.flatMap((name) => {
    const [ours, theirs] = [here, there].map((runs) => runs.filter(({ container }) => container === name));
    return compareRuns(name, ours ?? [], theirs ?? [], cluster, rehearsal);
  });
  if (names.length > 1) rows.push(compareOrder(momentsOf(cluster, here), momentsOf(rehearsal, there)));
  return [...rows, compareReadiness(cluster, rehearsal), compareReports(cluster, rehearsal)];
}

function compareRuns(
  name: string,
  ours: readonly Run[],
  theirs: readonly Run[],
  cluster: Account,
  rehearsal: Account,
): Row[] {
  const rows = [same(`container ${name}: number of runs`, String(ours.length), String(theirs.length))];
  ours.forEach((one, index) => {
    const other = theirs[index];
    if (other === undefined) return;
    const label = `container ${name}${ours.length > 1 ? `, run ${String(index + 1)}` : ''}`;
    const [previous, theirPrevious] = [ours[index - 1], theirs[index - 1]];
    const start = startOf(one, previous, cluster);
    const theirStart = startOf(other, theirPrevious, rehearsal);
    if (previous !== undefined)
      rows.push(compareWaits(`${label}: start, time since the end of the previous run`, start, theirStart));
    else if (start > 0 || theirStart > 0)
      rows.push(near(`${label}: start, time since the first container of the pod`, start, theirStart, otherSteps));
    rows.push(...compareProbes(label, one, other));
    rows.push(...compareEnds(label, one, other, cluster, rehearsal));
  });
  return rows;
}

function compareProbes(label: string, one: Run, other: Run): Row[] {
  return [...new Set([...one.probes.keys(), ...other.probes.keys()])].map((probe) => {
    const [ours, theirs] = [one, other].map(({ probes }) => probes.get(probe) ?? []);
    const agrees =
      ours?.length === theirs?.length &&
      ours?.every(({ answer, count, since }, index) => {
        const counterpart = theirs?.[index];
        return (
          answer === counterpart?.answer &&
          Math.abs(count - counterpart.count) <= 1 &&
          Math.abs(since - counterpart.since) <= otherSteps
        );
      });
    const [onCluster, inRehearsal] = [ours, theirs].map((all) =>
      (all ?? []).map(({ answer, count, since }) => timesFrom(answer, count, since)).join(', then '),
    );
    return {
      what: `${label}: responses to the probe /${probe} (number × status)`,
      onCluster: onCluster ?? '',
      inRehearsal: inRehearsal ?? '',
      agrees: agrees === true,
    };
  });
}

function compareEnds(label: string, one: Run, other: Run, cluster: Account, rehearsal: Account): Row[] {
  const rows: Row[] = [];
  if (one.signaledAt !== undefined && other.signaledAt !== undefined) {
    const isDeleted = [one, other].map((run, index) => isAfterDeletion(run, [cluster, rehearsal][index]));
    if (isDeleted[0] !== isDeleted[1]) {
      rows.push(
        same(`${label}: SIGTERM comes after the deletion of the pod`, String(isDeleted[0]), String(isDeleted[1])),
      );
    } else if (cluster.deletedAt !== undefined) {
      const [from, theirs] = isDeleted[0] === true ? [cluster.deletedAt, rehearsal.deletedAt] : [undefined, undefined];
      const what =
        isDeleted[0] === true ? 'SIGTERM, time since the deletion of the pod' : 'SIGTERM, time since its start';
      const ours = one.signaledAt - (from ?? one.startedAt);
      rows.push(near(`${label}: ${what}`, ours, other.signaledAt - (theirs ?? other.startedAt), otherSteps));
    }
    const [first, theirFirst] = [cluster, rehearsal].map(({ lines }) => lines.find(({ what }) => what === 'SIGTERM'));
    if (first !== undefined && theirFirst !== undefined && first.container !== one.container) {
      rows.push(
        near(
          `${label}: SIGTERM, time since the SIGTERM of container ${first.container}`,
          one.signaledAt - first.at,
          other.signaledAt - theirFirst.at,
          otherSteps,
        ),
      );
    }
    rows.push(
      near(
        `${label}: end, time since SIGTERM`,
        one.endedAt - one.signaledAt,
        other.endedAt - other.signaledAt,
        afterSignal,
      ),
    );
  } else if (one.signaledAt === undefined && other.signaledAt === undefined) {
    const isDeleted = isAfterDeletion(one, cluster) && isAfterDeletion(other, rehearsal);
    const [ours, theirs] = isDeleted
      ? [cluster.deletedAt ?? 0, rehearsal.deletedAt ?? 0]
      : [one.startedAt, other.startedAt];
    const what = isDeleted ? 'end, time since the deletion of the pod' : 'end, time since its start';
    rows.push(near(`${label}: ${what}`, one.endedAt - ours, other.endedAt - theirs, otherSteps));
  } else {
    rows.push(same(`${label}: SIGTERM`, told(one.signaledAt), told(other.signaledAt)));
  }
  rows.push(same(`${label}: exit code and reason`, one.exit, other.exit));
  return rows;
}

function told(at: number | undefined): string {
  return at === undefined ? 'none' : 'seen';
}

function isAfterDeletion({ endedAt }: Run, account: Account | undefined): boolean {
  return account?.deletedAt !== undefined && endedAt > account.deletedAt;
}

// Returns the milliseconds from the end of the container's previous run to the start of its run `run`. For the first
// run, the time counts from the first start of any container of the pod.
function startOf(run: Run, previous: Run | undefined, { lines }: Account): number {
  return run.startedAt - (previous?.endedAt ?? Math.min(...lines.map(({ startedAt }) => startedAt)));
}

function compareWaits(what: string, ours: number, theirs: number): Row {
  if (Math.min(ours, theirs) < backOff) return near(what, ours, theirs, otherSteps);
  const agrees = ours >= theirs - otherSteps && ours <= theirs * jitter + otherSteps;
  return { what, onCluster: seconds(ours), inRehearsal: `${seconds(theirs)} to ${seconds(theirs * jitter)}`, agrees };
}

function compareReadiness(cluster: Account, rehearsal: Account): Row {
  const [ours, theirs] = [cluster, rehearsal].map(transitionsOf);
  const agrees =
    ours?.length === theirs?.length &&
    ours?.every(({ isReady, since, isExact }, index) => {
      const counterpart = theirs?.[index];
      return isReady === counterpart?.isReady && (!isExact || Math.abs(since - counterpart.since) <= otherSteps);
    });
  const [onCluster, inRehearsal] = [ours, theirs].map((all) =>
    (all ?? []).map(({ isReady, since }) => `${isReady ? 'ready' : 'not ready'} at ${seconds(since)}`).join(', then '),
  );
  return {
    what: 'pod: readiness, time since the start of its program (negative: before the start)',
    onCluster: onCluster ?? '',
    inRehearsal: inRehearsal ?? '',
    agrees: agrees === true,
  };
}

// Returns the times at which the readiness of the pod changed before its deletion, so that cluster and rehearsal can be
// compared. Changes after the deletion depend on the endpoint controller, and are left out. `isExact` is false for a
// change after a restart back-off, because this back-off has a random part.
function transitionsOf(account: Account): { isReady: boolean; since: number; isExact: boolean }[] {
  const from = Math.min(...account.lines.map(({ startedAt }) => startedAt));
  const runs = runsOf(account);
  const isWaiting = (at: number) =>
    runs.some((run, index) => at >= run.startedAt - otherSteps && startOf(run, runs[index - 1], account) >= backOff);
  const all = account.readiness.filter(({ at }) => at < (account.deletedAt ?? Infinity));
  return all
    .filter(({ isReady }, index) => isReady !== (all[index - 1]?.isReady ?? false))
    .map(({ at, isReady }) => ({ isReady, since: at - from, isExact: !isWaiting(at) }));
}

function compareReports(cluster: Account, rehearsal: Account): Row {
  const [ours, theirs] = [cluster, rehearsal].map(({ reports }) => [...reports].sort().map(quoted).join(' and '));
  return same('events of the pod that are reported', ours ?? '', theirs ?? '');
}

interface Moment {
  readonly at: number;
  readonly text: string;
}

// Checks that the containers of a pod got SIGTERM and exited in the same order on the cluster as in the rehearsal. The
// order of two such events is compared only if they were more than 0.1 s apart on the cluster, and also in the
// rehearsal.
function compareOrder(ours: readonly Moment[], theirs: readonly Moment[]): Row {
  const gap = (all: readonly Moment[], from: string, to: string): number => {
    const at = (text: string) => all.find((one) => one.text === text)?.at ?? NaN;
    return at(to) - at(from);
  };
  const isSame = (from: string, to: string): boolean => {
    const [one, other] = [gap(ours, from, to), gap(theirs, from, to)];
    if (Math.abs(one) <= afterSignal || Math.abs(other) <= afterSignal) return true;
    return Math.sign(one) === Math.sign(other);
  };
  const [onCluster, inRehearsal] = [ours, theirs].map((all) => all.map(({ text }) => text));
  const agrees = ours.every(({ text: from }) => ours.every(({ text: to }) => isSame(from, to)));
  return {
    what: 'order of the signals to containers and of the ends of containers',
    onCluster: onCluster?.join(', then ') ?? '',
    inRehearsal: inRehearsal?.join(', then ') ?? '',
    agrees: agrees && ours.length === theirs.length,
  };
}

function momentsOf({ deletedAt = 0 }: Account, runs: readonly Run[]): Moment[] {
  return runs
    .flatMap(({ container, signaledAt, endedAt }) => [
      ...(signaledAt === undefined ? [] : [{ at: signaledAt, text: `SIGTERM to ${container}` }]),
      { at: endedAt, text: `end of ${container}` },
    ])
    .filter(({ at }) => at >= deletedAt)
    .sort((a, b) => a.at - b.at);
}

function runsOf({ lines, exits }: Account): Run[] {
  const groups = new Map<string, Line[]>();
  for (const line of lines.toSorted((a, b) => a.at - b.at)) {
    const key = `${line.container} ${String(line.startedAt)}`;
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  const seen = new Map<string, number>();
  return [...groups.values()].flatMap((own): Run[] => {
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) return [];
    const { container, startedAt } = first;
    const index = seen.get(container) ?? 0;
    seen.set(container, index + 1);
    const exit = exits.filter((one) => one.container === container)[index];
    return [
      {
        container,
        startedAt,
        probes: probesOf(own, startedAt),
        endedAt: last.at,
        signaledAt: own.find(({ what }) => what === 'SIGTERM')?.at,
        exit: exit === undefined ? 'unknown' : `${String(exit.code)} ${exit.reason ?? ''}`,
      },
    ];
  });
}

function probesOf(lines: readonly Line[], startedAt: number): Map<string, Answers[]> {
  const probes = new Map<string, Answers[]>();
  for (const { what, at, probe = '', answer = '' } of lines) {
    if (what !== 'probe') continue;
    const all = probes.get(probe) ?? [];
    const last = all.at(-1);
    if (last?.answer === answer) all[all.length - 1] = { ...last, count: last.count + 1 };
    else all.push({ answer, count: 1, since: at - startedAt });
    probes.set(probe, all);
  }
  return probes;
}

function near(what: string, ours: number, theirs: number, tolerance: number): Row {
  const digits = tolerance === afterSignal ? 2 : 1;
  const agrees = Math.abs(ours - theirs) <= tolerance;
  return { what, onCluster: seconds(ours, digits), inRehearsal: seconds(theirs, digits), agrees };
}

function same(what: string, ours: string, theirs: string): Row {
  return { what, onCluster: ours, inRehearsal: theirs, agrees: ours === theirs };
}

function timesFrom(answer: string, count: number, since: number): string {
  const what = answer === 'hang' ? 'no response' : answer;
  return count === 1 ? `1 × ${what} at ${seconds(since)}` : `${String(count)} × ${what} from ${seconds(since)} on`;
}

function quoted(text: string): string {
  return `“${text}”`;
}

function seconds(milliseconds: number, digits = 1): string {
  return `${(milliseconds / 1_000).toFixed(digits)} s`;
}
