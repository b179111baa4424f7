// Parses a Lease that the API server has sent, and creates the next version of the Lease for a write. Detects whether
// the API server has stored a written version unchanged. No side effects.

type Json = Readonly<Record<string, unknown>>;

/** LeaseBody is a Lease as it is sent to the API server. */
export interface LeaseBody {
  readonly apiVersion: 'coordination.k8s.io/v1';
  readonly kind: 'Lease';
  readonly metadata: Json;
  readonly spec: Json;
}

/** Lease is a received Lease, with the fields on which the election depends. */
export interface Lease {
  readonly metadata: Json;
  readonly spec: Json;
  readonly uid: string;
  /** resourceVersion contains decimal digits. It is never parsed into a number (L-036). */
  readonly resourceVersion: string;
  /** `holder` is the identity of the holder. It is empty if the Lease has no holder (L-014). */
  readonly holder: string;
  /**
   * `duration` is how long the Lease lasts after a renewal, in milliseconds. It is undefined if the Lease has no
   * positive duration (L-016).
   */
  readonly duration: number | undefined;
  readonly acquireTime: string | undefined;
  readonly transitions: number;
  /**
   * `strategy` is the field of the same name in the Lease. It is empty, unless coordinated leader election of
   * Kubernetes chooses the holder (L-160).
   */
  readonly strategy: string;
  readonly preferredHolder: string;
}

/**
 * Holding contains the fields of the Lease's spec that an elector writes. A time is in milliseconds of the wall clock.
 * If a write does not change `acquireTime`, it repeats the text of the Lease that was read.
 */
export interface Holding {
  readonly holder: string;
  /** durationSeconds is the value of `leaseDurationSeconds`: the lease duration in whole seconds. */
  readonly durationSeconds: number;
  readonly acquireTime: string | number;
  readonly renewTime: number;
  readonly transitions: number;
}

/**
 * Alteration describes a field of the Lease's spec whose stored value differs from the value that this elector sent.
 */
export interface Alteration {
  readonly field: string;
  readonly sent: unknown;
  readonly stored: unknown;
}

/** parseLease returns the Lease in a response. It returns undefined if the response is not a Lease or is malformed. */
export function parseLease(received: unknown): Lease | undefined {
  const { kind, metadata, spec = {} } = asObject(received) ?? {};
  const meta = asObject(metadata);
  const fields = asObject(spec ?? {});
  if (kind !== 'Lease' || meta === undefined || fields === undefined) return undefined;
  const { uid, resourceVersion } = meta;
  if (typeof uid !== 'string' || uid === '') return undefined;
  if (typeof resourceVersion !== 'string' || !/^(0|[1-9]\d*)$/.test(resourceVersion)) return undefined;
  const texts = ['holderIdentity', 'acquireTime', 'renewTime', 'strategy', 'preferredHolder'].map((name) =>
    textOf(fields[name]),
  );
  const seconds = wholeOf(fields['leaseDurationSeconds']);
  const transitions = wholeOf(fields['leaseTransitions']);
  if (texts.includes(undefined) || seconds === undefined || transitions === undefined || transitions < 0) {
    return undefined;
  }
  const [holder, acquireTime, , strategy, preferredHolder] = texts as [string, string, string, string, string];
  return {
    metadata: meta,
    spec: fields,
    uid,
    resourceVersion,
    holder,
    transitions,
    strategy,
    preferredHolder,
    duration: seconds > 0 ? seconds * 1_000 : undefined,
    acquireTime: acquireTime === '' ? undefined : acquireTime,
  };
}

/**
 * recordOf returns, as one text, the fields of a Lease that change when the holder renews it. The text does not change
 * when a user edits labels (L-017). Two versions of a Lease with equal texts count as one observation.
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
    uid,
    holder,
    duration,
    acquireTime,
    spec['renewTime'] ?? null,
    transitions,
    strategy,
    preferredHolder,
  ]);
}

/** isCoordinated tells whether coordinated leader election chooses the holder of a Lease (L-163). */
export function isCoordinated({ strategy, preferredHolder }: Lease): boolean {
  return strategy !== '' || preferredHolder !== '';
}

/**
 * isNewer compares two resourceVersions, which are decimal numbers of any length (KEP-5504). The number with more
 * digits is newer. Numbers with equally many digits are compared digit by digit.
 */
export function isNewer(version: string, than: string): boolean {
  return version.length === than.length ? version > than : version.length > than.length;
}

/** createdLease returns the body of the POST that creates a Lease. */
export function createdLease(
  { name, namespace, labels }: { name: string; namespace: string; labels: Readonly<Record<string, string>> },
  holding: Holding,
): LeaseBody {
  const ownLabels = Object.keys(labels).length === 0 ? {} : { labels };
  return bodyOf({ name, namespace, ...ownLabels }, specOf(holding));
}

/**
 * updatedLease returns the body of the PUT that replaces a received Lease. It contains all received metadata, because a
 * PUT erases the fields that it omits (L-019). With the uid and the resourceVersion, the API server rejects the write
 * if the Lease has changed since it was received (L-032). The body also contains the unknown fields of the spec.
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

/**
 * alterationIn returns the first field of the Lease's spec whose stored value differs from the value that this elector
 * sent. An admission webhook may have changed the field. It returns undefined if all fields are equal.
 */
export function alterationIn(stored: Lease, sent: LeaseBody): Alteration | undefined {
  const field = specFields.find((name) => !isSame(stored.spec[name], sent.spec[name]));
  return field === undefined ? undefined : { field, sent: sent.spec[field], stored: stored.spec[field] };
}

const specFields = [
  'holderIdentity',
  'leaseDurationSeconds',
  'acquireTime',
  'renewTime',
  'leaseTransitions',
  'strategy',
  'preferredHolder',
] as const;

// Tells whether the API server has stored a field of the Lease as the elector sent it. A number that is absent from the
// stored Lease counts as 0, and an absent text as empty (L-014).
function isSame(stored: unknown, sent: unknown): boolean {
  return (stored ?? (typeof sent === 'number' ? 0 : '')) === (sent ?? '');
}

/**
 * microTime formats a wall-clock time for a field of type MicroTime, such as `renewTime` of a Lease. The API server
 * requires UTC, six decimal places and `Z` (L-012, L-013).
 */
export function microTime(wall: number): string {
  return new Date(wall).toISOString().replace(/Z$/, '000Z');
}

function bodyOf(metadata: Json, spec: Json): LeaseBody {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

// Returns the spec of a Lease with all five fields that electors write. Other electors treat a Lease without a duration
// as expired, and a missing `leaseTransitions` as 0 (L-015, L-016).
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
