// The class of every error that lameduck throws, and the table of its codes. The meaning of a code never changes.
import { inspect } from 'node:util';

const brand = Symbol.for('lameduck.error');

/** errorCodes maps each code to its cause and remedy. The script for docs/errors.md reads it. */
export const errorCodes = {
  LAMEDUCK_ERR_SETTINGS_INVALID: {
    cause: 'One or more options or `LAMEDUCK_` variables are invalid. The message lists all of them.',
    remedy: 'Correct each listed option or variable. `docs/settings.md` lists the valid values.',
  },
  LAMEDUCK_ERR_BUDGET_TOO_SHORT: {
    cause: 'The settings and hook limits leave less than one second of the shutdown budget for requests in flight.',
    remedy:
      'Raise `terminationGracePeriodSeconds` of the pod, and the setting with the same name. You can also shorten the delay, the preStop hook or the limits of the hooks.',
  },
  LAMEDUCK_ERR_PROBE_PORT_FAILED: {
    cause: 'lameduck cannot listen on the probe port. The message has the reason.',
    remedy: 'Set `probePort` to a port on which no other process listens.',
  },
  LAMEDUCK_ERR_SERVER_INVALID: {
    cause:
      'The argument of `lameduck()` is not a server of `node:http`, `node:https` or `node:http2`. `runShutdown` also rejects a server on a Unix socket, and a Fastify application without `lameduck/fastify`.',
    remedy:
      'Pass the server itself: `app.server` for Fastify; `createServer(app)` or the return value of `app.listen()` for Express.',
  },
  LAMEDUCK_ERR_SERVER_CLOSED: {
    cause:
      'This error occurs if the server was closed before `lameduck()` or `runShutdown` was called. For `runShutdown`, the error also occurs if the shutdown of the server had already begun.',
    remedy: 'Call `lameduck(server)` before you close the server, if possible right after you have created it.',
  },
  LAMEDUCK_ERR_SERVER_TAKEN: {
    cause: '`lameduck()` was called twice for the same server.',
    remedy: 'Use the handle that the first call of `lameduck()` returned. Pass several servers as one array.',
  },
  LAMEDUCK_ERR_NAME_INVALID: {
    cause:
      'The name of a hook, a check or a group is missing or empty. The error also occurs if the name has characters that a probe path cannot have.',
    remedy: 'In the name, use letters, digits, `.`, `_`, `-` and `/`, with a letter or digit at both ends.',
  },
  LAMEDUCK_ERR_NAME_TAKEN: {
    cause:
      'The name of a new hook or check is taken. Another hook of the same kind, or another check of the same endpoint, already has this name.',
    remedy: 'Give each hook and each check of an endpoint a different name.',
  },
  LAMEDUCK_ERR_FUNCTION_INVALID: {
    cause: 'A hook or check was registered, or `runShutdown` was called, without a function.',
    remedy: 'Pass a function. It may be asynchronous.',
  },
  LAMEDUCK_ERR_TIMEOUT_INVALID: {
    cause:
      'The limit of a hook, the `budget` of `shutdown` or the `timeout` of `runShutdown` is not a duration, or below 1 ms. A destroy hook with a limit longer than `destroyHookTimeout` also causes this error.',
    remedy:
      'Pass a Go duration such as `5s`, or a number of milliseconds. If a destroy hook needs more time, raise `destroyHookTimeout`.',
  },
  LAMEDUCK_ERR_GRPC_LISTEN: {
    cause: 'The gRPC health service cannot listen at its address. The message has the reason.',
    remedy: 'Pass an address with a free port, such as `0.0.0.0:9090`.',
  },
  LAMEDUCK_ERR_PACKAGE_OUTDATED: {
    cause: 'The installed version of a package, such as Fastify, is too old for lameduck.',
    remedy: 'Install the version that the message names, or a newer one.',
  },
  LAMEDUCK_ERR_OPTIONS_INVALID: {
    cause: 'The options that were passed to a function are not an object, or contain an unknown or invalid option.',
    remedy: 'Pass an object with the options that the message lists, or omit this argument.',
  },
  LAMEDUCK_ERR_PLUGIN_ENCAPSULATED: {
    cause:
      '`fastifyLameduck` was registered inside another plugin, whose scope hides it from the rest of the Fastify application.',
    remedy:
      'Register `fastifyLameduck` on the root instance. If another plugin must register it, such as the application of `fastify-cli`, wrap that plugin with `fastify-plugin`.',
  },
  LAMEDUCK_ERR_PLUGIN_DUPLICATE: {
    cause: '`fastifyLameduck` was registered twice, or another plugin has decorated the application with `lameduck`.',
    remedy:
      'Register `fastifyLameduck` once, and use `app.lameduck` everywhere. If another plugin adds a decorator `lameduck`, rename the decorator of that plugin.',
  },
  LAMEDUCK_ERR_ROUTE_INVALID: {
    cause: 'A Fastify route has an invalid `config.lameduck`.',
    remedy: 'Set `config.lameduck` of the route to `{ longRunning: true }`, or omit it.',
  },
  LAMEDUCK_ERR_REQUEST_INVALID: {
    cause: 'The argument of `abortSignal` is not a request of `node:http` or `node:http2`.',
    remedy: 'Pass the request that the handler received. A request of Fastify is valid too.',
  },
  LAMEDUCK_ERR_REQUEST_ENDED: {
    cause:
      'lameduck ended a request before the handler had answered it. This error is the reason of the `AbortSignal` of the request. If the handler writes to the response after that, the write fails with this error.',
    remedy: 'Stop the work for this request. The message of the error says why lameduck ended the request.',
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
    remedy: 'Create only one elector for each Lease in a process, or give the second elector another `leaseName`.',
  },
  LAMEDUCK_ERR_ELECTOR_RUNNING: {
    cause: 'The method `run` of an elector was called while an earlier call of `run` was in progress.',
    remedy:
      'Await the promise of the first call of `run` before you call `run` again. Alternatively, call `run` once, with one function that does all work of the leader.',
  },
  LAMEDUCK_ERR_NOT_LEADER: {
    cause:
      'The process is no longer the leader, because its term as leader has ended. `assertLeader` throws this error, and the `AbortSignal` of the term has it as its reason. The message says why the term has ended.',
    remedy:
      'Make the program stop the work that only a leader may do. The elector contends for the Lease again on its own, without another call of `run`.',
  },
  LAMEDUCK_ERR_REGISTERED_TOO_LATE: {
    cause: 'A hook or check was registered too late to run.',
    remedy:
      'Register checks and post-start hooks before `listen()`, or right after `lameduck(server)` if the server already listens. Register pre-shutdown hooks before the shutdown, and destroy hooks before the last request has been answered.',
  },
  LAMEDUCK_ERR_NEVER_READY: {
    cause:
      'The server that was passed to `runShutdown` did not become ready in time. The message names the failing checks.',
    remedy: 'Make the checks and post-start hooks pass in the test, or raise the option `timeout` of `runShutdown`.',
  },
  LAMEDUCK_ERR_WORK_FAILED: {
    cause:
      'The function `work` that you passed to `runShutdown` sent no request, or did not return before the shutdown had ended. The error also occurs if a request of `work` was cut at the end of the shutdown. It occurs, too, if the request was refused because the server no longer listened.',
    remedy:
      'If `work` sends several requests, let it send all of them simultaneously. If this is not possible, set the option `during` of `runShutdown` to the path of the last request. The shutdown then begins during that request. Let `work` return when it has received all responses.',
  },
  LAMEDUCK_ERR_DISABLED: {
    cause: '`runShutdown` was called while `LAMEDUCK_DISABLED` was set, so the server has no lifecycle.',
    remedy: 'Unset `LAMEDUCK_DISABLED` in the environment of the test.',
  },
  LAMEDUCK_ERR_HOOK_FAILED: {
    cause: 'A hook threw an error or rejected. The error of the hook is the property `cause` of the `LameduckError`.',
    remedy:
      'Correct the error of the hook, which is the property `cause` of the `LameduckError`. The failed hook did not interrupt the drain. The exit code of the process is 81.',
  },
  LAMEDUCK_ERR_HOOK_TIMED_OUT: {
    cause: 'A hook did not end within its time limit.',
    remedy:
      'Make the hook end when its `AbortSignal` aborts, or give the hook a longer limit. After a hook with this error, the process exits with code 81.',
  },
  LAMEDUCK_ERR_CHECK_FAILED: {
    cause: 'A health check failed: it returned false, threw, rejected, or did not end within its time limit.',
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
    // A test runner may run the program in another realm (node:vm). An error from another realm is not an instance of
    // this realm's Error.
    const isError = thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
    const message: unknown = isError ? (thrown as Error).message : thrown;
    return typeof message === 'string' ? message : inspect(thrown);
  } catch {
    return unspeakable;
  }
}

// The maximum number of characters of an invalid value in an error message. `quoted` cuts off the rest of the value.
const longestQuote = 200;

/**
 * `quoted()` formats an invalid value for an error message: on one line, with at most 200 characters. It never throws.
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

const unspeakable = 'an unprintable value (its conversion to text throws an error)';

/** isLameduckError tells whether a value is a LameduckError of this copy or another copy of the package. */
export function isLameduckError(value: unknown): value is LameduckError {
  return typeof value === 'object' && value !== null && brand in value;
}
