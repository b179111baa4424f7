// Reads from the API server's audit log which program held a Lease at which time. Reports the writes of the Lease that
// broke a rule of leader election. This file has no side effects.
import { FencedStore } from '../../../support/fenced-store.ts';

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Term is a period in which one program held the Lease, and so was the leader. Times are milliseconds of the API
 * server's clock.
 */
export interface Term {
  readonly holder: string;
  /** The user agent of the write that acquired the Lease. */
  readonly agent: string;
  /** The resourceVersion of the write that acquired the Lease, which is the fencing token. */
  readonly token: string;
  readonly transitions: number;
  /** The time at which the API server received the write with which this leader acquired the Lease. */
  readonly acquiredAt: number;
  /**
   * When the API server received the write with which the leader released the Lease. Undefined if the leader did not
   * release the Lease.
   */
  readonly releasedAt: number | undefined;
}

/** History is the content of the audit log about one Lease. */
export interface History {
  readonly terms: readonly Term[];
  /** One sentence for each write of the Lease that breaks a rule of leader election. */
  readonly faults: readonly string[];
}

/** JobDone is a line that only a leader logs: its time in milliseconds since 1970, and the leader's fencing token. */
export interface JobDone {
  readonly time: number;
  readonly token: string;
}

/** HandOver is one change of the leader after the previous leader has released the Lease. */
export interface HandOver {
  /** Milliseconds from the release of the Lease until the API server received the write that acquired it. */
  readonly untilAcquired: number;
  /** Milliseconds from the release of the Lease until the work of the next leader logs its first line. */
  readonly untilJobDone: number;
}

interface Spec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
}

interface AuditedLease {
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  readonly spec?: Spec;
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: AuditedLease;
  readonly responseObject?: AuditedLease;
  readonly requestReceivedTimestamp: string;
}

interface Write {
  readonly receivedAt: number;
  readonly agent: string;
  readonly isCreation: boolean;
  /** The resourceVersion of the Lease that the writer had read before the write. */
  readonly basedOn: string | undefined;
  readonly version: string;
  readonly spec: Spec;
  readonly holder: string;
  readonly duration: number;
  readonly transitions: number;
}

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/**
 * historyOf reads the audit log of the API server, which has one JSON event per line. It returns the periods of
 * leadership of a Lease, and the rules that its writes break. The API server must audit Leases at the level
 * RequestResponse.
 */
export function historyOf(log: string, lease: LeaseName): History {
  const events = log
    .split('\n')
    .filter((line) => line.includes(`/namespaces/${lease.namespace}/leases`))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.stage === 'ResponseComplete' && isAbout(event, lease));
  const faults: string[] = [];
  const writes = writesIn(events, faults);
  if (writes.length === 0) faults.push(`the audit log has no write of ${lease.namespace}/${lease.name}`);
  const terms: Term[] = [];
  writes.forEach((write, index) => {
    judge(write, writes[index - 1], terms, faults);
  });
  return { terms, faults };
}

function isAbout({ objectRef, requestObject }: AuditEvent, { namespace, name }: LeaseName): boolean {
  // The audit event of a creation has no name in its objectRef.
  const named = objectRef?.name ?? requestObject?.metadata?.name;
  return objectRef?.resource === 'leases' && objectRef.namespace === namespace && named === name;
}

/**
 * Returns the writes of the Lease in the order in which etcd stored them. If a client is killed before the API server
 * has responded to its write, the audit log has the status 504 for this write. Such a write counts as stored if the
 * next write is based on a newer resourceVersion than this write.
 */
function writesIn(events: readonly AuditEvent[], faults: string[]): Write[] {
  const writes: Write[] = [];
  const unanswered: Omit<Write, 'version'>[] = [];
  for (const event of events) {
    const { verb, userAgent: agent = '', responseStatus, requestObject, responseObject } = event;
    const code = responseStatus?.code ?? 0;
    if (['get', 'list', 'watch'].includes(verb)) continue;
    if (code === 400 || code === 422) faults.push(`${agent}: ${verb} was rejected with ${String(code)}`);
    if (code === 504 && verb === 'update' && requestObject !== undefined)
      unanswered.push(writeOf(event, requestObject));
    if (code >= 400) continue;
    if (verb !== 'create' && verb !== 'update') {
      faults.push(`${agent}: nobody may ${verb} a Lease`);
      continue;
    }
    const [basedOn, version] = [requestObject?.metadata?.resourceVersion, responseObject?.metadata?.resourceVersion];
    if (requestObject === undefined || responseObject?.spec === undefined || version === undefined) {
      faults.push(`${agent}: the audit log has no objects for ${verb}`);
      continue;
    }
    writes.push({ ...writeOf(event, responseObject), basedOn, version });
  }
  writes.sort((one, other) => (BigInt(one.version) < BigInt(other.version) ? -1 : 1));
  return writes.flatMap((write, index) => {
    const before = writes[index - 1]?.version;
    if (before === undefined || write.basedOn === undefined || write.basedOn === before) return [write];
    const stored = unanswered.find(({ basedOn }) => basedOn === before);
    return stored === undefined ? [write] : [{ ...stored, version: write.basedOn }, write];
  });
}

function writeOf(event: AuditEvent, { metadata, spec = {} }: AuditedLease): Omit<Write, 'version'> {
  return {
    agent: event.userAgent ?? '',
    basedOn: metadata?.resourceVersion,
    spec,
    isCreation: event.verb === 'create',
    receivedAt: Date.parse(event.requestReceivedTimestamp),
    holder: spec.holderIdentity ?? '',
    duration: (spec.leaseDurationSeconds ?? 0) * 1_000,
    transitions: spec.leaseTransitions ?? 0,
  };
}

// Checks one write of the Lease in the audit log of the API server. The write contains the resourceVersion that it
// replaces. If this is not the resourceVersion of the previous write in the audit log, the audit log is incomplete.
function judge(write: Write, before: Write | undefined, terms: Term[], faults: string[]): void {
  const { agent, holder, receivedAt, transitions, version, spec } = write;
  const found = (fault: string): unknown => faults.push(`version ${version} by ${agent}: ${fault}`);
  const isFirst = before === undefined;
  if (write.isCreation !== isFirst) found(isFirst ? 'the creation is not in the log' : 'the Lease was created again');
  if (!isFirst && write.basedOn !== before.version) found(`writes after ${before.version} are not in the log`);
  for (const field of ['acquireTime', 'renewTime'] as const) {
    const time = spec[field];
    // A program that is not an elector can also create the Lease. So acquireTime and renewTime may be missing in the
    // first write.
    const isMissing = time === undefined || time === null;
    if (isMissing ? !isFirst : !microTime.test(time)) found(`${field} is ${JSON.stringify(time)}`);
  }
  const isChange = holder !== '' && holder !== before?.holder;
  const expected = isFirst ? 0 : before.transitions + (isChange ? 1 : 0);
  if (transitions !== expected) found(`${String(transitions)} transitions instead of ${String(expected)}`);
  if (isChange) {
    const since = receivedAt - (before?.receivedAt ?? 0);
    if (!isFirst && before.holder !== '' && since < before.duration) {
      found(
        `${holder} took the Lease ${String(since)} ms after a write of ${before.holder}, for ${String(before.duration)} ms`,
      );
    }
    terms.push({ holder, agent, token: version, transitions, acquiredAt: receivedAt, releasedAt: undefined });
  } else if (holder === '') {
    const last = terms.at(-1);
    if (last === undefined || last.releasedAt !== undefined) {
      found('the Lease was released, but nobody held it');
      return;
    }
    if (last.agent !== agent)
      found(`the Lease was released, but its holder ${last.holder} has the user agent ${last.agent}`);
    terms[terms.length - 1] = { ...last, releasedAt: receivedAt };
  }
}

/**
 * jobFaults checks the lines that leaders logged about their work. It returns a sentence for each line whose leader did
 * not hold the Lease at that time, according to the audit log. If it returns no sentence, two leaders never worked at
 * the same time. The leaders and the API server must use the same clock.
 */
export function jobFaults(jobs: readonly JobDone[], terms: readonly Term[]): string[] {
  if (jobs.length === 0) return ['no work was done'];
  const indexes = new Map(terms.map(({ token }, index) => [token, index]));
  const inOrder = [...jobs].sort((one, other) => one.time - other.time);
  return inOrder.flatMap(({ time, token }, index) => {
    const line = `a line at ${String(time)} with the token ${token}`;
    const before = inOrder[index - 1]?.token ?? token;
    const faults = BigInt(token) < BigInt(before) ? [`${line} follows one with the token ${before}`] : [];
    const own = indexes.get(token);
    if (own === undefined) return [...faults, `${line} belongs to no term`];
    const { acquiredAt = Infinity, releasedAt = Infinity } = terms[own] ?? {};
    const end = Math.min(releasedAt, terms[own + 1]?.acquiredAt ?? Infinity);
    return time < acquiredAt || time > end ? [...faults, `${line} is outside its term`] : faults;
  });
}

/**
 * rejectedWrites sends the given writes of the leaders to a simulated store that checks fencing tokens, and returns the
 * writes that the store rejected. At each acquisition of the Lease, it also sends a write with the new fencing token.
 * All writes are sent in the order of their times.
 */
export function rejectedWrites(writes: readonly JobDone[], terms: readonly Term[]): JobDone[] {
  const store = new FencedStore();
  const acquisitions = terms.map(({ acquiredAt, token }) => ({ time: acquiredAt, token }));
  const inOrder = [...acquisitions, ...writes].sort((one, other) => one.time - other.time);
  return inOrder.filter(({ token }) => !store.write(token));
}

/**
 * handOversOf returns one HandOver for each release of the Lease, if an elector acquired the Lease after this release.
 */
export function handOversOf(terms: readonly Term[], jobs: readonly JobDone[]): HandOver[] {
  return terms.flatMap(({ releasedAt }, index) => {
    const next = terms[index + 1];
    if (releasedAt === undefined || next === undefined) return [];
    const times = jobs.filter(({ token }) => token === next.token).map(({ time }) => time);
    return [{ untilAcquired: next.acquiredAt - releasedAt, untilJobDone: Math.min(...times) - releasedAt }];
  });
}
