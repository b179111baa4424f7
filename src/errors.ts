// Every error that lameduck throws: one class and one table of codes. The meaning of a code never changes.
import { inspect } from 'node:util';

const brand = Symbol.for('lameduck.error');

/** errorCodes maps each code to its cause and remedy. The script for docs/errors.md reads it. */
export const errorCodes = {
  LAMEDUCK_ERR_SETTINGS_INVALID: {
    cause: 'One or more options or `LAMEDUCK_` variables are invalid. The message lists all of them.',
    remedy: 'Correct each listed option or variable. `docs/settings.md` lists the valid values.',
  },
  LAMEDUCK_ERR_BUDGET_TOO_SHORT: {
    cause: 'Less than one second of the shutdown budget would be left for requests in flight.',
    remedy:
      'Raise `terminationGracePeriodSeconds` of the pod and the setting of the same name. Or shorten the delay, the preStop hook or the limits of the hooks.',
  },
  LAMEDUCK_ERR_PROBE_PORT_FAILED: {
    cause: 'lameduck cannot listen on the probe port. The message has the reason.',
    remedy: 'Set `probePort` to a port on which nothing else listens.',
  },
  LAMEDUCK_ERR_SERVER_INVALID: {
    cause:
      'The argument is not a server of `node:http`, `node:https` or `node:http2`. `runShutdown` also rejects a server on a unix socket, and a Fastify application without `lameduck/fastify`.',
    remedy:
      'Pass the server itself: `app.server` for Fastify; `createServer(app)` or the return value of `app.listen()` for Express.',
  },
  LAMEDUCK_ERR_SERVER_CLOSED: {
    cause: 'The server has already been closed. From `runShutdown`: its shutdown has already begun.',
    remedy: 'Call `lameduck(server)` before closing the server, best right after creating it.',
  },
  LAMEDUCK_ERR_SERVER_TAKEN: {
    cause: '`lameduck()` was called twice for this server.',
    remedy: 'Use the handle that the first call returned. Pass several servers as one array.',
  },
  LAMEDUCK_ERR_NAME_INVALID: {
    cause:
      'The name of a hook, a check or a group is missing or empty, or has characters that a probe path cannot have.',
    remedy: 'Use letters, digits, `.`, `_`, `-` and `/`, with a letter or digit at both ends.',
  },
  LAMEDUCK_ERR_NAME_TAKEN: {
    cause: 'A hook or check of this name is already registered.',
    remedy: 'Give each hook and each check of an endpoint a different name.',
  },
  LAMEDUCK_ERR_FUNCTION_INVALID: {
    cause: 'A hook or check was registered, or `runShutdown` was called, without a function.',
    remedy: 'Pass a function. It may be asynchronous.',
  },
  LAMEDUCK_ERR_TIMEOUT_INVALID: {
    cause:
      'The limit of a hook, the budget of `shutdown` or the `timeout` of `runShutdown` is shorter than 1 ms or not a duration. Or the limit of a destroy hook is longer than `destroyHookTimeout`.',
    remedy:
      'Pass a Go duration such as `5s`, or a number of milliseconds. If a destroy hook needs more time, raise `destroyHookTimeout`.',
  },
  LAMEDUCK_ERR_GRPC_LISTEN: {
    cause: 'The gRPC health service cannot listen at its address. The message has the reason.',
    remedy: 'Pass an address with a free port, such as `0.0.0.0:9090`.',
  },
  LAMEDUCK_ERR_PACKAGE_OUTDATED: {
    cause: 'The program has installed a package that is older than lameduck supports.',
    remedy: 'Install the version that the message names, or a newer one.',
  },
  LAMEDUCK_ERR_OPTIONS_INVALID: {
    cause: 'The options are not an object, or contain an unknown or invalid option.',
    remedy: 'Pass an object with the options that the message lists, or no object.',
  },
  LAMEDUCK_ERR_PLUGIN_ENCAPSULATED: {
    cause:
      '`fastifyLameduck` was registered inside a plugin with a scope of its own. The rest of the application cannot use it there.',
    remedy:
      'Register it on the root instance. Make a plugin around it with `fastify-plugin`, for example the application of `fastify-cli`.',
  },
  LAMEDUCK_ERR_PLUGIN_DUPLICATE: {
    cause: '`fastifyLameduck` was registered twice, or another plugin has decorated the application with `lameduck`.',
    remedy: 'Register it once, and use `app.lameduck` everywhere. Rename the other decorator.',
  },
  LAMEDUCK_ERR_ROUTE_INVALID: {
    cause: 'A Fastify route has an invalid `config.lameduck`.',
    remedy: 'Set it to `{ longRunning: true }`, or omit it.',
  },
  LAMEDUCK_ERR_REQUEST_INVALID: {
    cause: 'The argument of `abortSignal` is not a request of `node:http` or `node:http2`.',
    remedy: 'Pass the request that the handler received. A request of Fastify is valid too.',
  },
  LAMEDUCK_ERR_REQUEST_ENDED: {
    cause:
      'lameduck ended a request before its handler did. The error is the reason of the `AbortSignal`, or of a later write.',
    remedy: 'Stop working for the request. The message says what ended it.',
  },
  LAMEDUCK_ERR_NOT_IN_CLUSTER: {
    cause:
      '`createElector` found no API server: `KUBERNETES_SERVICE_HOST` or `KUBERNETES_SERVICE_PORT` is not set, and there is no option `apiServer`.',
    remedy:
      'Run the process in a pod, or pass `apiServer`. For a single process without a cluster, set `LAMEDUCK_LEADER_ELECTION_ALONE=1`.',
  },
  LAMEDUCK_ERR_CREDENTIALS_UNREADABLE: {
    cause: 'The file with the token or the CA of the API server is unreadable or empty. The message names the file.',
    remedy:
      'Mount the token of the service account (`automountServiceAccountToken`), or correct `tokenFile` and `caFile` of `apiServer`.',
  },
  LAMEDUCK_ERR_LEASE_TAKEN: {
    cause: 'This process already has an elector for the Lease.',
    remedy: 'Use one elector per Lease, or give the second elector another `leaseName`.',
  },
  LAMEDUCK_ERR_ELECTOR_RUNNING: {
    cause: '`run` was called while an earlier call of `run` was in progress.',
    remedy: 'Await the first call, or start both pieces of work in one function.',
  },
  LAMEDUCK_ERR_NOT_LEADER: {
    cause:
      'The term as leader has ended. `assertLeader` threw this error, or it is the reason of the term’s `AbortSignal`. The message has the cause.',
    remedy: 'Stop the work of the leader. The elector contends for the Lease again on its own.',
  },
  LAMEDUCK_ERR_REGISTERED_TOO_LATE: {
    cause: 'A hook or check was registered too late to run.',
    remedy:
      'Register checks and post-start hooks before `listen()`, or right after `lameduck(server)` if the server already listens. Register pre-shutdown hooks before the shutdown, and destroy hooks before the last request has been answered.',
  },
  LAMEDUCK_ERR_NEVER_READY: {
    cause: 'The server of `runShutdown` did not become ready in time. The message names the failing checks.',
    remedy: 'Make the checks and post-start hooks pass in the test, or raise `timeout`.',
  },
  LAMEDUCK_ERR_WORK_FAILED: {
    cause:
      'The work of `runShutdown` sent no request, or did not end. Or a request was lost at the end of the shutdown, or refused by the closed listener.',
    remedy:
      'Send all requests of `work` at once, or name in `during` the request with which the shutdown begins. Let `work` return when it has all its responses.',
  },
  LAMEDUCK_ERR_DISABLED: {
    cause: '`runShutdown` was called while `LAMEDUCK_DISABLED` is set, so there is no lifecycle.',
    remedy: 'Unset `LAMEDUCK_DISABLED` in the environment of the test.',
  },
  LAMEDUCK_ERR_HOOK_FAILED: {
    cause: 'A hook threw or rejected. Its error is the `cause`.',
    remedy: 'Look at the cause. The drain has continued, and the exit code is 81.',
  },
  LAMEDUCK_ERR_HOOK_TIMED_OUT: {
    cause: 'A hook had not ended at its limit.',
    remedy: 'Make the hook end when its `AbortSignal` aborts, or give it a longer limit. The exit code is 81.',
  },
  LAMEDUCK_ERR_CHECK_FAILED: {
    cause: 'A health check returned false, threw, rejected, or did not answer in time.',
    remedy: 'Read the reason in the log. The response to a probe does not contain the reason.',
  },
} as const satisfies Record<string, { cause: string; remedy: string }>;

/** LameduckErrorCode is the `code` of a LameduckError. */
export type LameduckErrorCode = keyof typeof errorCodes;

/**
 * LameduckError is the class of every error that lameduck throws. Distinguish errors by `code`. `isLameduckError` also
 * recognizes an error from another copy of the package.
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

/** messageOf returns the message of a thrown value, which may be an error or anything else. It never throws. */
export function messageOf(thrown: unknown): string {
  try {
    // Test runners run code in another realm. An error from there is not an instance of this realm's Error.
    const isError = thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
    const message: unknown = isError ? (thrown as Error).message : thrown;
    return typeof message === 'string' ? message : inspect(thrown);
  } catch {
    return unspeakable;
  }
}

// The maximum number of characters of an invalid value that an error message repeats.
const longestQuote = 200;

/**
 * quoted formats an invalid value for an error message, on one line and at most 200 characters long. It never throws.
 */
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

const unspeakable = 'a value that throws when it is printed';

/** isLameduckError tells whether a value is a LameduckError of this copy or another copy of the package. */
export function isLameduckError(value: unknown): value is LameduckError {
  return typeof value === 'object' && value !== null && brand in value;
}
