// The storage of the simulated API server. It has one Lease for each name. Writes follow the rules of Kubernetes.
import { randomUUID } from 'node:crypto';

type Json = Record<string, unknown>;

/** StoredLease is a Lease as the API server returns it. */
export interface StoredLease {
  readonly apiVersion: 'coordination.k8s.io/v1';
  readonly kind: 'Lease';
  readonly metadata: Json & { readonly uid: string; readonly resourceVersion: string; readonly name: string };
  readonly spec: Json;
}

/**
 * Answered is a response of the simulated API server. It has an HTTP status, and a Lease or a Kubernetes Status object
 * as its body.
 */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** Write is one creation, update or deletion of a Lease that the simulated API server has accepted. */
export interface Write {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly lease: StoredLease;
}

const specFields = [
  'holderIdentity',
  'leaseDurationSeconds',
  'acquireTime',
  'renewTime',
  'leaseTransitions',
  'strategy',
  'preferredHolder',
];

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

/** LeaseStore stores Leases by the rules of etcd and of the API server's registry. */
export class LeaseStore {
  readonly writes: Write[] = [];
  /** LeaseStore calls `onWrite()` after each accepted write of a Lease. */
  onWrite: (write: Write) => void = () => undefined;
  readonly #leases = new Map<string, StoredLease>();
  #version = 100;

  get(name: string): Answered {
    const lease = this.#leases.get(name);
    return lease === undefined ? status(404, 'NotFound', `leases "${name}" not found`) : { status: 200, body: lease };
  }

  current(name: string): StoredLease | undefined {
    return this.#leases.get(name);
  }

  create(name: string, body: Json): Answered {
    if (this.#leases.has(name)) return status(409, 'AlreadyExists', `leases "${name}" already exists`);
    const problem = invalid(body);
    if (problem !== undefined) return problem;
    return { status: 201, body: this.#store('POST', name, { ...(body['metadata'] as Json), uid: randomUUID() }, body) };
  }

  update(name: string, body: Json): Answered {
    const problem = invalid(body);
    if (problem !== undefined) return problem;
    const { uid, resourceVersion } = body['metadata'] as Json;
    const stored = this.#leases.get(name);
    if (stored === undefined) {
      if (uid !== undefined) return status(409, 'Conflict', 'Precondition failed: UID in precondition');
      const metadata = { ...(body['metadata'] as Json), uid: randomUUID() };
      return { status: 201, body: this.#store('POST', name, metadata, body) };
    }
    if (resourceVersion === undefined) return status(422, 'Invalid', 'must be specified for an update');
    if (uid !== undefined && uid !== stored.metadata.uid) return status(409, 'Conflict', 'UID in precondition');
    if (resourceVersion !== stored.metadata.resourceVersion) return status(409, 'Conflict', 'has been modified');
    return { status: 200, body: this.#store('PUT', name, body['metadata'] as Json, body) };
  }

  /** `put()` writes a Lease unconditionally, without comparing resource versions. */
  put(name: string, spec: Json, metadata: Json = {}): StoredLease {
    const stored = this.#leases.get(name);
    const kept = stored?.metadata ?? { uid: randomUUID() };
    return this.#store(stored === undefined ? 'POST' : 'PUT', name, { ...kept, ...metadata }, { spec });
  }

  delete(name: string): void {
    const lease = this.#leases.get(name);
    this.#leases.delete(name);
    if (lease === undefined) return;
    const resourceVersion = this.#nextVersion();
    this.#noteWrite({ method: 'DELETE', lease: { ...lease, metadata: { ...lease.metadata, resourceVersion } } });
  }

  #store(method: Write['method'], name: string, metadata: Json, { spec }: Json): StoredLease {
    const lease: StoredLease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...(metadata as Json & { uid: string }), name, resourceVersion: this.#nextVersion() },
      spec: (spec ?? {}) as Json,
    };
    this.#leases.set(name, lease);
    this.#noteWrite({ method, lease });
    return lease;
  }

  #nextVersion(): string {
    this.#version += 7;
    return String(this.#version);
  }

  #noteWrite(write: Write): void {
    this.writes.push(write);
    this.onWrite(write);
  }
}

/** `status()` returns an error response with a Kubernetes Status object as its body, as a real API server does. */
export function status(code: number, reason: string, message: string, details: Json = {}): Answered {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details },
  };
}

// Rejects misspelled and unknown fields, as `fieldValidation=Strict` does (L-034, L-035).
function invalid(body: Json): Answered | undefined {
  if (body['kind'] !== 'Lease' || body['apiVersion'] !== 'coordination.k8s.io/v1') {
    return status(400, 'BadRequest', 'no Lease');
  }
  const spec = (body['spec'] ?? {}) as Json;
  const unknown = Object.keys(spec).find((field) => !specFields.includes(field));
  if (unknown !== undefined) return status(400, 'BadRequest', `unknown field "spec.${unknown}"`);
  for (const field of ['acquireTime', 'renewTime']) {
    const time = spec[field];
    if (time !== undefined && time !== null && !(typeof time === 'string' && microTime.test(time))) {
      return status(400, 'BadRequest', `parsing time ${JSON.stringify(time)} as "2006-01-02T15:04:05.000000Z07:00"`);
    }
  }
  const { leaseDurationSeconds: duration = 1, leaseTransitions: transitions = 0, strategy, preferredHolder } = spec;
  const isValid =
    (duration === null || (Number.isInteger(duration) && Number(duration) > 0)) &&
    (transitions === null || (Number.isInteger(transitions) && Number(transitions) >= 0)) &&
    (preferredHolder === undefined || strategy !== undefined);
  return isValid ? undefined : status(422, 'Invalid', 'spec is invalid');
}
