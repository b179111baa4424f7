// Translates a response of the API server into a reply for the decision and a problem for the log.
import { parseLease } from './lease.ts';
import type { Reply, Request } from './state.ts';

/** ProblemKind is a reason why an elector cannot read or write its Lease. docs/leader-election.md has a remedy for each. */
export type ProblemKind =
  | 'unreachable'
  | 'unauthorized'
  | 'forbidden'
  | 'namespace missing'
  | 'namespace terminating'
  | 'throttled'
  | 'coordinated'
  | 'malformed'
  | 'recreated'
  | 'unexpected';

/** Problem is what went wrong with a request, in words for the log. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly message: string;
}

/** Answer is a reply, with the problem if there was one. */
export interface Answer {
  readonly reply: Reply;
  readonly problem: Problem | undefined;
}

/** Received is a whole answer. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

type Method = Request['method'];

interface Status {
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: {
    readonly causes?: readonly { readonly reason?: unknown }[];
    readonly retryAfterSeconds?: unknown;
  };
}

/** replyTo is the reply in an answer. Only 200, and 201 to a POST, acknowledge anything. */
export function replyTo(method: Method, received: Received): Reply {
  const { status } = received;
  if (status === (method === 'POST' ? 201 : 200)) {
    const lease = parseLease(jsonOf(received));
    return lease === undefined ? { kind: 'failed', isRejected: false } : { kind: 'lease', lease };
  }
  if (status === 201 && method === 'PUT') return { kind: 'recreated' };
  if (status === 409) return { kind: 'conflict' };
  // A 404 of another kind, such as that of a proxy, does not say that there is no Lease.
  if (status === 404 && method !== 'POST' && reasonOf(received) === 'NotFound') return { kind: 'absent' };
  return { kind: 'failed', isRejected: status >= 400 && status < 500, retryAfter: retryAfterOf(received) };
}

/** problemOf is the problem in an answer; undefined if it is one that an election expects. */
export function problemOf(method: Method, received: Received): Problem | undefined {
  const { status } = received;
  const kind = kindOf(method, received);
  if (kind === undefined) return undefined;
  const { message } = statusOf(received);
  const text = typeof message === 'string' ? message : received.body.slice(0, 500);
  // A proxy may answer in its own words, which name neither.
  const denied = kind === 'forbidden' ? ` (cannot ${verbs[method]} leases)` : '';
  return { kind, message: `${method} was answered with ${String(status)}${denied}: ${text}` };
}

/** verbs are the words of a Role for the methods. */
const verbs: Readonly<Record<Method, string>> = { GET: 'get', POST: 'create', PUT: 'update' };

function kindOf(method: Method, received: Received): ProblemKind | undefined {
  const { status } = received;
  if (status === 201 && method === 'PUT') return 'recreated';
  if (status === 200 || status === 201) return parseLease(jsonOf(received)) === undefined ? 'malformed' : undefined;
  if (status === 409 || (status === 404 && method !== 'POST' && reasonOf(received) === 'NotFound')) return undefined;
  if (status === 401) return 'unauthorized';
  if (status === 404 && method === 'POST') return 'namespace missing';
  if (status === 429 || status === 503) return 'throttled';
  if (status !== 403) return 'unexpected';
  const { details } = statusOf(received);
  const causes = Array.isArray(details?.causes) ? details.causes : [];
  return causes.some(({ reason }) => reason === 'NamespaceTerminating') ? 'namespace terminating' : 'forbidden';
}

function reasonOf(received: Received): unknown {
  return statusOf(received).reason;
}

// The header, or the field of a ServerTimeout (L-037).
function retryAfterOf(received: Received): number | undefined {
  const header = received.headers['retry-after'];
  const seconds = typeof header === 'string' ? Number(header) : Number(statusOf(received).details?.retryAfterSeconds);
  return Number.isInteger(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}

function statusOf(received: Received): Status {
  const json = jsonOf(received);
  return typeof json === 'object' && json !== null ? json : {};
}

function jsonOf({ body }: Received): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
