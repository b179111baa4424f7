// Every error that lameduck throws: one class, one table of codes. A code is never reused for something else.
import { inspect } from 'node:util';

const brand = Symbol.for('lameduck.error');

/** errorCodes says of each code what it means and what to do about it; `docs/errors.md` is written from it. */
export const errorCodes = {
  LAMEDUCK_ERR_SETTINGS_INVALID: {
    cause: 'One or more options or `LAMEDUCK_` variables cannot be read or are out of range; the message lists all.',
    remedy: 'Correct each listed option or variable; `docs/settings.md` says what is allowed.',
  },
  LAMEDUCK_ERR_BUDGET_TOO_SHORT: {
    cause: 'Less than a second would be left for requests in flight before the kubelet sends SIGKILL.',
    remedy:
      'Raise `terminationGracePeriodSeconds` (in the pod and here), or shorten the delay, preStop or the hooks’ limits.',
  },
  LAMEDUCK_ERR_PROBE_PORT_FAILED: {
    cause: 'Nothing can listen on the probe port; the message says why.',
    remedy: 'Give `probePort` a port that nothing else listens on.',
  },
  LAMEDUCK_ERR_SERVER_INVALID: {
    cause:
      'What was given is not a server of `node:http`, `node:https` or `node:http2`, or one that `runShutdown` cannot ask: on a unix socket, or of a Fastify application without `lameduck/fastify`.',
    remedy: 'Pass the server itself: `app.server` for Fastify, the return value of `app.listen()` for Express.',
  },
  LAMEDUCK_ERR_SERVER_CLOSED: {
    cause:
      'The server has been closed already, or its shutdown has begun when `runShutdown` is called: there is no lifecycle left to manage.',
    remedy: 'Call `lameduck(server)` before anything closes the server, best right after it is created.',
  },
  LAMEDUCK_ERR_SERVER_TAKEN: {
    cause: '`lameduck()` has been called for this server before.',
    remedy: 'Keep the handle that the first call returned; pass several servers as one array.',
  },
  LAMEDUCK_ERR_NAME_INVALID: {
    cause:
      'The name of a hook, a check or a group is missing, empty, or has characters that cannot stand in a probe path.',
    remedy: 'Use letters, digits, `.`, `_`, `-` and `/`, with a letter or digit at both ends.',
  },
  LAMEDUCK_ERR_NAME_TAKEN: {
    cause: 'A hook or check of that name is registered already.',
    remedy: 'Give each hook and each check of an endpoint its own name.',
  },
  LAMEDUCK_ERR_FUNCTION_INVALID: {
    cause: 'A hook or check was registered, or `runShutdown` called, without a function.',
    remedy: 'Pass a function; it may be asynchronous.',
  },
  LAMEDUCK_ERR_TIMEOUT_INVALID: {
    cause:
      'The limit given for a hook, the budget given to `shutdown` or the `timeout` given to `runShutdown` is no duration of at least 1ms, as `0` is none, or the limit of a destroy hook is longer than `destroyHookTimeout`.',
    remedy:
      'Give a Go duration such as `5s`, or a number of milliseconds, and raise `destroyHookTimeout` where a destroy hook needs longer.',
  },
  LAMEDUCK_ERR_GRPC_LISTEN: {
    cause: 'The gRPC health service cannot listen at the address that was given; the message says why.',
    remedy: 'Give an address and a free port, such as `0.0.0.0:9090`.',
  },
  LAMEDUCK_ERR_PACKAGE_OUTDATED: {
    cause: 'A package that the program has installed, and that lameduck uses, is older than lameduck supports.',
    remedy: 'Install the version that the message names, or a newer one.',
  },
  LAMEDUCK_ERR_OPTIONS_INVALID: {
    cause: 'What was given as options is no object, or has an option that does not exist or cannot be read.',
    remedy: 'Pass an object with what the message allows, or leave it out.',
  },
  LAMEDUCK_ERR_PLUGIN_ENCAPSULATED: {
    cause: '`fastifyLameduck` was registered inside a plugin, which has a scope of its own that nobody else can see.',
    remedy:
      'Register it on the root instance. A plugin around it, such as the application of `fastify-cli`, has to be made with `fastify-plugin`.',
  },
  LAMEDUCK_ERR_PLUGIN_DUPLICATE: {
    cause: '`fastifyLameduck` was registered twice, or something else has decorated the application with `lameduck`.',
    remedy: 'Register it once, and use `app.lameduck` everywhere; give the other decorator another name.',
  },
  LAMEDUCK_ERR_ROUTE_INVALID: {
    cause: 'A route of Fastify has a `config.lameduck` that cannot be read.',
    remedy: 'Give it `{ longRunning: true }`, or leave it out.',
  },
  LAMEDUCK_ERR_REQUEST_INVALID: {
    cause: '`abortSignal` was called with something that is no request of `node:http` or `node:http2`.',
    remedy: 'Pass the request that the handler was called with; a request of Fastify does as well.',
  },
  LAMEDUCK_ERR_REQUEST_ENDED: {
    cause:
      'A request had to end before its handler did: the reason of its `AbortSignal`, or of a write that came too late.',
    remedy: 'Stop working for the request; the message says what ended it.',
  },
  LAMEDUCK_ERR_NOT_IN_CLUSTER: {
    cause:
      '`createElector` found no API server: `KUBERNETES_SERVICE_HOST` or `KUBERNETES_SERVICE_PORT` is not set, and no `apiServer` was given.',
    remedy:
      'Run the process in a pod, give `apiServer`, or set `LAMEDUCK_LEADER_ELECTION_ALONE=1` where one process runs alone.',
  },
  LAMEDUCK_ERR_CREDENTIALS_UNREADABLE: {
    cause: 'The token or the CA of the API server cannot be read, or the file is empty; the message names the file.',
    remedy:
      'Mount the service account’s token (`automountServiceAccountToken`), or correct `tokenFile` and `caFile` of `apiServer`.',
  },
  LAMEDUCK_ERR_LEASE_TAKEN: {
    cause: 'This process already has an elector for the Lease.',
    remedy: 'Use one elector for each Lease, or give the second one another `leaseName`.',
  },
  LAMEDUCK_ERR_ELECTOR_RUNNING: {
    cause: '`run` was called while an earlier call of `run` was in progress.',
    remedy: 'Await the first call, or start both pieces of work in one function.',
  },
  LAMEDUCK_ERR_NOT_LEADER: {
    cause:
      'The term has ended: `assertLeader` threw this error, or it is the reason of the term’s `AbortSignal`. The message says why.',
    remedy: 'Stop the work. The elector contends again by itself.',
  },
  LAMEDUCK_ERR_REGISTERED_TOO_LATE: {
    cause: 'A hook or check was registered after the moment at which it would have begun to matter.',
    remedy:
      'Register checks and post-start hooks before `listen()`, pre-shutdown hooks before the shutdown, and destroy hooks before the last request has been answered.',
  },
  LAMEDUCK_ERR_NEVER_READY: {
    cause: '`runShutdown` waited for the server to be ready, and it was not; the message names the checks that fail.',
    remedy: 'Let the checks and post-start hooks pass in the test, or give them longer with `timeout`.',
  },
  LAMEDUCK_ERR_WORK_FAILED: {
    cause:
      'The work that was given to `runShutdown` sent no request, lost one to the end of the shutdown, was refused by the closed listener, or did not end.',
    remedy:
      'Ask for everything at once, name the request that `during` is about, and end the work when it has its answers.',
  },
  LAMEDUCK_ERR_DISABLED: {
    cause: '`runShutdown` was called with `LAMEDUCK_DISABLED` set, so that there is no lifecycle to run through.',
    remedy: 'Unset `LAMEDUCK_DISABLED` in the environment of the test.',
  },
  LAMEDUCK_ERR_HOOK_FAILED: {
    cause: 'A hook threw or rejected; its error is the `cause`.',
    remedy: 'Look at the cause. The drain went on without it, and the exit code is 81.',
  },
  LAMEDUCK_ERR_HOOK_TIMED_OUT: {
    cause: 'A hook had not finished at its limit.',
    remedy: 'Make it end when its `AbortSignal` is aborted, or give it a longer limit. The exit code is 81.',
  },
  LAMEDUCK_ERR_CHECK_FAILED: {
    cause: 'A health check returned false, threw, rejected, or did not answer in time.',
    remedy: 'The reason is in the log, never in the answer to a probe.',
  },
} as const satisfies Record<string, { cause: string; remedy: string }>;

/** LameduckErrorCode is the `code` of a LameduckError. */
export type LameduckErrorCode = keyof typeof errorCodes;

/**
 * LameduckError is what lameduck throws. Tell errors apart by `code`; `isLameduckError` also recognizes one from another
 * copy of the package.
 */
export class LameduckError extends Error {
  override readonly name = 'LameduckError';
  readonly code: LameduckErrorCode;
  readonly [brand] = true;

  constructor(code: LameduckErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** messageOf returns the message of whatever was thrown. It never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    // One from another realm, as test runners have them, is no instance of ours.
    const isError = thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
    const message: unknown = isError ? (thrown as Error).message : thrown;
    return typeof message === 'string' ? message : inspect(thrown);
  } catch {
    return unspeakable;
  }
}

// Of a value that was given, an error message repeats this many characters.
const longestQuote = 200;

/** quoted writes a value that was given for an error message: on one line, of bounded length. It never throws. */
export function quoted(given: unknown): string {
  const text = typeof given === 'string' ? JSON.stringify(given.slice(0, longestQuote + 1)) : described(given);
  return text.length <= longestQuote ? text : `${text.slice(0, longestQuote)}…`;
}

function described(given: unknown): string {
  if (typeof given === 'function') return 'a function';
  const shown = { depth: 0, breakLength: Infinity, compact: true, maxArrayLength: 10, maxStringLength: longestQuote };
  try {
    return inspect(given, shown).replace(/\s*\n\s*/g, ' ');
  } catch {
    return unspeakable;
  }
}

const unspeakable = 'a value that cannot be shown, since showing it throws';

/** isLameduckError tells whether a value is a LameduckError, of this or another copy of the package. */
export function isLameduckError(value: unknown): value is LameduckError {
  return typeof value === 'object' && value !== null && brand in value;
}
