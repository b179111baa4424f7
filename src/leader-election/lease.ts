// The Lease object on the wire: how it is read, and how the next version of it is written. Pure.

type Json = Readonly<Record<string, unknown>>;

/** LeaseBody is a Lease as it is sent to the API server. */
export interface LeaseBody {
  readonly apiVersion: 'coordination.k8s.io/v1';
  readonly kind: 'Lease';
  readonly metadata: Json;
  readonly spec: Json;
}

/** Lease is a Lease as it was received, with the fields that decide. */
export interface Lease {
  readonly metadata: Json;
  readonly spec: Json;
  readonly uid: string;
  /** Decimal digits. It is never parsed into a number (L-036). */
  readonly resourceVersion: string;
  /** The empty string if nobody holds the Lease (L-014). */
  readonly holder: string;
  /** In milliseconds; undefined if the record has no positive duration (L-016). */
  readonly duration: number | undefined;
  readonly acquireTime: string | undefined;
  readonly transitions: number;
  /** The empty string unless the Lease is coordinated (L-160). */
  readonly strategy: string;
  readonly preferredHolder: string;
}

/** Holding is what a holder writes into the spec. Times are milliseconds of the wall clock, or a string as received. */
export interface Holding {
  readonly holder: string;
  /** In whole seconds. */
  readonly durationSeconds: number;
  readonly acquireTime: string | number;
  readonly renewTime: number;
  readonly transitions: number;
}

/** parseLease returns the Lease in a response; undefined if the response is anything else or the record is malformed. */
export function parseLease(received: unknown): Lease | undefined {
  const { kind, metadata, spec = {} } = asObject(received) ?? {};
  const [meta, fields] = [asObject(metadata), asObject(spec ?? {})];
  if (kind !== 'Lease' || meta === undefined || fields === undefined) return undefined;
  const { uid, resourceVersion } = meta;
  if (typeof uid !== 'string' || uid === '') return undefined;
  if (typeof resourceVersion !== 'string' || !/^(0|[1-9]\d*)$/.test(resourceVersion)) return undefined;
  const texts = ['holderIdentity', 'acquireTime', 'renewTime', 'strategy', 'preferredHolder'].map((name) =>
    textOf(fields[name]),
  );
  const [seconds, transitions] = [wholeOf(fields['leaseDurationSeconds']), wholeOf(fields['leaseTransitions'])];
  if (texts.includes(undefined) || seconds === undefined || transitions === undefined || transitions < 0) {
    return undefined;
  }
  const [holder, acquireTime, , strategy, preferredHolder] = texts as [string, string, string, string, string];
  return {
    ...{ metadata: meta, spec: fields, uid, resourceVersion, holder, transitions, strategy, preferredHolder },
    duration: seconds > 0 ? seconds * 1_000 : undefined,
    acquireTime: acquireTime === '' ? undefined : acquireTime,
  };
}

/**
 * recordOf returns what changes when the holder renews and does not change when somebody edits labels (L-017). Two
 * versions of a Lease with the same record count as one observation.
 */
export function recordOf({
  uid,
  holder,
  duration,
  acquireTime,
  transitions,
  strategy,
  preferredHolder,
  spec,
}: Lease): string {
  return JSON.stringify([
    ...[uid, holder, duration, acquireTime, spec['renewTime'] ?? null, transitions, strategy, preferredHolder],
  ]);
}

/**
 * isNewer tells whether a resourceVersion was written after another one: the longer number is the greater one, then the
 * digits decide (KEP-5504).
 */
export function isNewer(version: string, than: string): boolean {
  return version.length === than.length ? version > than : version.length > than.length;
}

/** createdLease is the body that creates a Lease. */
export function createdLease(
  { name, namespace, labels }: { name: string; namespace: string; labels: Readonly<Record<string, string>> },
  holding: Holding,
): LeaseBody {
  const ownLabels = Object.keys(labels).length === 0 ? {} : { labels };
  return bodyOf({ name, namespace, ...ownLabels }, specOf(holding));
}

/**
 * updatedLease is the body that replaces a received Lease. It sends all metadata back, since a PUT erases what it omits
 * (L-019). The uid and the resourceVersion in it make the write conditional (L-032). Unknown fields of the spec are kept.
 */
export function updatedLease(
  { metadata, spec }: Lease,
  holding: Holding,
  labels: Readonly<Record<string, string>>,
): LeaseBody {
  const received = asObject(metadata['labels']) ?? {};
  const merged = { ...received, ...labels };
  const all = Object.keys(merged).length === 0 ? metadata : { ...metadata, labels: merged };
  return bodyOf(all, { ...spec, ...specOf(holding) });
}

/** microTime writes a time of the wall clock as the API server requires: UTC, six digits and `Z` (L-012, L-013). */
export function microTime(wall: number): string {
  return new Date(wall).toISOString().replace(/Z$/, '000Z');
}

function bodyOf(metadata: Json, spec: Json): LeaseBody {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

// All five fields are always written: a missing duration reads as expired, a missing count as 0 (L-015, L-016).
function specOf({ holder, durationSeconds, acquireTime, renewTime, transitions }: Holding): Json {
  return {
    holderIdentity: holder,
    leaseDurationSeconds: durationSeconds,
    acquireTime: typeof acquireTime === 'string' ? acquireTime : microTime(acquireTime),
    renewTime: microTime(renewTime),
    leaseTransitions: transitions,
  };
}

function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : undefined;
}

function wholeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
