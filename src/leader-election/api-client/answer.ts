// Reads the API server's response to a request that reads or writes the Lease. The result contains a reply, from which
// the elector decides what to do next, and a problem to log, if there is one.
import { alterationIn, isCoordinated, parseLease } from '../decision/lease.ts';
import type { LeaseReply, Reply, LeaseRequest } from '../decision/state.ts';

/**
 * ProblemKind is a reason why an elector cannot read or write its Lease. docs/leader-election.md has a remedy for each
 * reason.
 */
export type ProblemKind =
  | 'unreachable'
  | 'unauthorized'
  | 'forbidden'
  | 'namespace missing'
  | 'namespace terminating'
  | 'throttled'
  | 'coordinated'
  | 'malformed'
  | 'altered'
  | 'recreated'
  | 'unexpected';

/** Problem says, for the log, why a request that reads, writes or watches the Lease has failed. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly message: string;
}

/**
 * Answer contains the API server's reply to a request that reads or writes the Lease, and the problem to log, if there
 * is one.
 */
export interface Answer {
  readonly reply: Reply;
  readonly problem: Problem | undefined;
}

/** Received is a complete response of the API server. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

type Method = LeaseRequest['method'];

interface Status {
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: {
    readonly causes?: readonly { readonly reason?: unknown }[];
    readonly retryAfterSeconds?: unknown;
  };
}

type Sent = Pick<LeaseRequest, 'method' | 'body'>;

/**
 * answerOf converts an HTTP response of the API server to a reply. It also returns the problem that the elector must
 * log, if there is one.
 */
export function answerOf(request: Sent, received: Received): Answer {
  const reply = replyTo(request, received);
  return { reply, problem: reply.kind === 'lease' ? problemIn(reply) : problemOf(request.method, received) };
}

function replyTo({ method, body }: Sent, received: Received): Reply {
  const { status } = received;
  if (isApplied(method, status)) {
    const lease = parseLease(jsonOf(received));
    if (lease === undefined) return { kind: 'failed', isRejected: false };
    return { kind: 'lease', lease, altered: body && alterationIn(lease, body) };
  }
  if (status === 201 && method === 'PUT') return { kind: 'recreated' };
  if (status === 409) return { kind: 'conflict' };
  // A 404 shows that the Lease is missing only if its reason is NotFound. Another 404 may come from a proxy.
  if (status === 404 && method !== 'POST' && reasonOf(received) === 'NotFound') return { kind: 'absent' };
  return { kind: 'failed', isRejected: status >= 400 && status < 500, retryAfter: retryAfterOf(received) };
}

// Tells whether the API server has applied a request: only after a 200, or after a 201 to a POST.
function isApplied(method: Method, status: number): boolean {
  return status === (method === 'POST' ? 201 : 200);
}

/**
 * problemOf returns the problem to log for a response without a Lease. It returns undefined for a response that is
 * normal in an election, such as a conflict (409). `verb` is the verb that the Role needs for the request.
 */
export function problemOf(method: Method, received: Received, verb = verbs[method]): Problem | undefined {
  const { status, body } = received;
  if (isApplied(method, status)) {
    const message = `the response to the ${method} contains no valid Lease: ${body.slice(0, longestText)}`;
    return { kind: 'malformed', message };
  }
  const kind = kindOf(method, received);
  if (kind === undefined) return undefined;
  const { message } = statusOf(received);
  const text = typeof message === 'string' ? message : body;
  // The response may come from a proxy, whose text does not say which permission is missing. So the logged text also
  // names the verb and the resource.
  const denied = kind === 'forbidden' ? ` (cannot ${verb} leases)` : '';
  return {
    kind,
    message: `the response to the ${method} has status ${String(status)}${denied}: ${text.slice(0, longestText)}`,
  };
}

// The maximum number of characters of a response that one log line contains.
const longestText = 500;

/** `verbs` maps each HTTP method to the verb that a Role must permit. */
const verbs: Readonly<Record<Method, string>> = { GET: 'get', POST: 'create', PUT: 'update' };

// Returns what is wrong with a Lease that the API server has sent, or undefined if nothing is wrong.
function problemIn({ lease, altered }: LeaseReply): Problem | undefined {
  if (altered !== undefined) {
    const [stored, sent] = [altered.stored, altered.sent].map((value) => JSON.stringify(value ?? null));
    return {
      kind: 'altered',
      message: `the API server stored ${altered.field} ${String(stored)} instead of ${String(sent)}: an admission webhook may change Leases`,
    };
  }
  if (!isCoordinated(lease)) return undefined;
  return {
    kind: 'coordinated',
    message: 'the Lease has a strategy or a preferred holder: coordinated leader election chooses its holder',
  };
}

function kindOf(method: Method, received: Received): ProblemKind | undefined {
  const { status } = received;
  if (status === 201 && method === 'PUT') return 'recreated';
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

// Returns how many milliseconds to wait before the next request, as the API server demands (L-037). The value comes
// from the header `Retry-After`, or else from the Status object in the body, such as that of a ServerTimeout.
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
