// The settings, one row each. Types, defaults, validation, variables and `docs/settings.md` are derived from this
// table. An editor shows the comment above a row when the user types the option.
import {
  boolean,
  chance,
  choice,
  count,
  duration,
  file,
  host,
  limit,
  logFile,
  port,
  processSignals,
  seconds,
  stallLimit,
} from './kinds.ts';
import type { Duration } from './duration.ts';
import { logRows } from './log-table.ts';
import { metricsRows } from './metrics-table.ts';
import { pathPrefixes, paths } from './path-lists.ts';
import { row, type GivenOf, type ValuesOf } from './row.ts';

const ownRows = {
  /**
   * shutdownDelayDuration: How long the server still serves every request after the process signal. During this time,
   * `/readyz` fails, and connections are closed one after another. `0s` means no delay. In development, lameduck uses
   * `0s` instead of a delay that is set in code.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `10s` in a cluster (`KUBERNETES_SERVICE_HOST` is set), else `0s`
   */
  shutdownDelayDuration: row<number, Duration>({
    kind: duration,
    default: (inCluster) => (inCluster ? 10_000 : 0),
    namedAfter: '--shutdown-delay-duration',
  }),
  /**
   * shutdownSendRetryAfter: If true, the server still listens during the drain, and requests on new connections get a
   * 429 with `Retry-After`. If false, the server stops listening before the drain.
   *
   * @default `false`
   */
  shutdownSendRetryAfter: row<boolean>({
    kind: boolean,
    default: () => false,
    namedAfter: '--shutdown-send-retry-after',
  }),
  /**
   * shutdownWatchTerminationGracePeriod: How long the drain takes to end event streams, watches and every other
   * long-running request, one after another. With `0s`, the drain ends all of them at once. If this setting exceeds the
   * time limit of the drain, the time limit of the drain applies.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `10s`
   */
  shutdownWatchTerminationGracePeriod: row<number, Duration>({
    kind: duration,
    default: () => 10_000,
    namedAfter: '--shutdown-watch-termination-grace-period',
  }),
  /**
   * eventStreamRetry: The reconnection time that an event stream sends to its client when the drain ends the stream.
   * Each client gets a random time, from half of this value to one and a half times this value. With `0s`, the stream
   * sends no reconnection time.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `3s`
   */
  eventStreamRetry: row<number, Duration>({
    kind: duration,
    default: () => 3_000,
    namedAfter: 'the field `retry` of an event stream (EventSource)',
  }),
  /**
   * eventStreams: Which event streams the drain ends: `all`, `none`, or only the response to a GET that accepts nothing
   * but `text/event-stream` (`reconnecting`). The drain waits for every other event stream, such as the response of an
   * LLM, until the response ends.
   *
   * @default `reconnecting`
   */
  eventStreams: row<'reconnecting' | 'all' | 'none'>({
    kind: choice('reconnecting', 'all', 'none'),
    default: () => 'reconnecting',
  }),
  /**
   * longRunningPaths: The paths of long-running requests, such as `/socket.io,/watch`, with all paths below them. Use
   * this setting if the program cannot pass the option `longRunning`, for example under `lameduck/register`. A trailing
   * slash is ignored. `/` is invalid.
   *
   * @default `off`
   */
  longRunningPaths: row<readonly string[], readonly string[] | string>({ kind: pathPrefixes, default: () => [] }),
  /**
   * preShutdownHookTimeout: The time limit of each pre-shutdown hook that has no `timeout` of its own.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `5s`
   */
  preShutdownHookTimeout: row<number, Duration>({ kind: limit, default: () => 5_000 }),
  /**
   * destroyHookTimeout: The time limit of all destroy hooks together. The hooks run one after another.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `3s`
   */
  destroyHookTimeout: row<number, Duration>({ kind: limit, default: () => 3_000 }),
  /**
   * terminationGracePeriodSeconds: The `terminationGracePeriodSeconds` of the pod, in seconds. The kubelet sends
   * SIGKILL after this time. Set the same value here, because the process cannot read it from the pod.
   *
   * @default `30`
   */
  terminationGracePeriodSeconds: row<number>({
    kind: seconds,
    default: () => 30,
    namedAfter: 'the pod’s `terminationGracePeriodSeconds`',
  }),
  /**
   * preStopSeconds: The seconds of the grace period that the preStop hook of the container uses before the process
   * signal is sent. `0` means that there is no hook.
   *
   * @default `0`
   */
  preStopSeconds: row<number>({
    kind: seconds,
    default: () => 0,
    namedAfter: 'the container’s `lifecycle.preStop`',
  }),
  /**
   * shutdownSignals: The process signals that start the shutdown. A second signal ends the process at once with code
   * 1.
   *
   * @default `SIGTERM,SIGINT`
   */
  shutdownSignals: row<readonly NodeJS.Signals[], readonly NodeJS.Signals[] | string>({
    kind: processSignals,
    default: () => ['SIGTERM', 'SIGINT'],
    namedAfter: 'the image’s STOPSIGNAL',
  }),
  /**
   * ownSignalListeners: When lameduck calls the program's own listeners of the shutdown signals. `hold` means after the
   * drain and the destroy hooks, `run` means when the signal arrives. To stop a queue worker, add a pre-shutdown hook
   * instead of a listener. Set `run` if a listener that you cannot replace forwards the signal to child processes or
   * stops a queue worker.
   *
   * @default `hold`
   */
  ownSignalListeners: row<'hold' | 'run'>({ kind: choice('hold', 'run'), default: () => 'hold' }),
  /**
   * healthCheckTimeout: The time limit of each health check. Keep this limit below the `timeoutSeconds` of the probe.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `900ms`
   */
  healthCheckTimeout: row<number, Duration>({ kind: limit, default: () => 900 }),
  /**
   * livezGracePeriod: How long a post-start hook may run after its registration. After that, `/livez` fails, so that
   * the kubelet restarts a container whose hook does not end. With `0s`, a running hook never makes `/livez` fail.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `0s`
   */
  livezGracePeriod: row<number, Duration>({
    kind: duration,
    default: () => 0,
    namedAfter: '--livez-grace-period',
  }),
  /**
   * probePort: The TCP port on which a worker thread answers `/readyz`, `/livez`, `/healthz` and `/metrics`, also while
   * the event loop is blocked. `off` or `0` opens no port. If the port is in use, the process exits with an error;
   * under `lameduck/register`, the log has one line instead.
   *
   * @default `off`
   */
  probePort: row<number, number | 'off'>({ kind: port, default: () => 0 }),
  /**
   * probeHost: The address to which `probePort` is bound.
   *
   * @default unset: all IPv6 and IPv4 addresses
   */
  probeHost: row<string | undefined, string>({ kind: host, default: () => undefined }),
  /**
   * readinessPaths: The program's own health paths, such as `/health,/ready`. From `ShutdownInitiated` on, a GET or
   * HEAD of such a path gets a 503. A trailing slash is ignored. `/livez` is invalid.
   *
   * @default `off`
   */
  readinessPaths: row<readonly string[], readonly string[] | string>({ kind: paths, default: () => [] }),
  /**
   * probePaths: Whether the program's own servers answer `/readyz`, `/livez` and `/healthz`. `probePort` answers them
   * in any case.
   *
   * @default `on`
   */
  probePaths: row<'on' | 'off'>({ kind: choice('on', 'off'), default: () => 'on' }),
  /**
   * readyzEventLoopStallLimit: How long the event loop must be blocked before `/readyz` on `probePort` fails, so that
   * the pod is removed from its Services. With `0s`, a blocked event loop never makes `/readyz` fail.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `5s`
   */
  readyzEventLoopStallLimit: row<number, Duration>({ kind: stallLimit, default: () => 5_000 }),
  /**
   * livezEventLoopStallLimit: How long the event loop must be blocked before `/livez` and `/healthz` on `probePort`
   * fail, so that the kubelet restarts the container. With `0s`, a blocked event loop never makes these endpoints fail.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `30s`
   */
  livezEventLoopStallLimit: row<number, Duration>({ kind: stallLimit, default: () => 30_000 }),
  /**
   * auditLogPath: The file to which lameduck appends audit events of audit.k8s.io about each request of the program, or
   * `-` for standard output. `off` writes nothing.
   *
   * @default `off`
   */
  auditLogPath: row<string>({
    kind: logFile,
    default: () => '',
    namedAfter: '--audit-log-path',
  }),
  /**
   * terminationMessagePath: The file from which the kubelet reads the termination message of the container. On an
   * abnormal exit, the process writes the reason to this file, if the file exists and is empty. With `off`, it writes
   * nothing.
   *
   * @default `/dev/termination-log`
   */
  terminationMessagePath: row<string>({
    kind: file,
    default: () => '/dev/termination-log',
    namedAfter: 'the container’s `terminationMessagePath`',
  }),
  /**
   * checkpointPath: The file that records which phase the process has reached, so that the record survives a restart of
   * the container. At the next start, the log and the metric `lameduck_previous_run_info` say how the previous run
   * ended. The file must be on a volume of the pod.
   *
   * @default `off`
   */
  checkpointPath: row<string>({ kind: file, default: () => '' }),
  /**
   * debugSocketPath: The path of a Unix socket. On this socket, a thread reports what the process does and what it
   * waits for, even while the event loop is blocked. `lameduck inspect` prints the report. Only the user that runs the
   * process can connect to the socket.
   *
   * @default `off`
   */
  debugSocketPath: row<string>({ kind: file, default: () => '', namedAfter: '--debug-socket-path' }),
  /**
   * debugSocketStack: Whether `lameduck inspect --stack` may pause the main thread for some milliseconds, while the
   * event loop is blocked, to read the stack of the main thread.
   *
   * @default `false`
   */
  debugSocketStack: row<boolean>({ kind: boolean, default: () => false }),
  /**
   * keepAliveTimeout: How long an idle connection stays open. This time must be longer than the idle timeout of the load
   * balancer or proxy. If the server's `headersTimeout` is shorter, lameduck raises `headersTimeout` too, but never above
   * the server's own `requestTimeout`.
   *
   * @remarks In code, a number is in milliseconds.
   * @default unset: the program's own `server.keepAliveTimeout`
   */
  keepAliveTimeout: row<number | undefined, Duration>({
    kind: limit,
    default: () => undefined,
    namedAfter: 'Node’s `server.keepAliveTimeout`',
  }),
  /**
   * requestTimeout: How long a request that is not long-running may take before it is answered with 504. `0s` means no
   * limit.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `0s`: off
   */
  requestTimeout: row<number, Duration>({ kind: duration, default: () => 0, namedAfter: '--request-timeout' }),
  /**
   * maxRequestsInflight: The maximum number of requests in flight, not counting long-running requests. Further requests
   * get a 429. `0` means no limit.
   *
   * @default `0`: off
   */
  maxRequestsInflight: row<number>({ kind: count, default: () => 0, namedAfter: '--max-requests-inflight' }),
  /**
   * goawayChance: The probability that an HTTP/2 request makes its client open a new connection, so that long-lived
   * connections spread over the replicas. With `0`, requests never cause a GOAWAY.
   *
   * @default `0`: off
   */
  goawayChance: row<number>({ kind: chance, default: () => 0, namedAfter: '--goaway-chance' }),
} as const;

/** settingsTable has one row for each setting. */
export const settingsTable = { ...ownRows, ...logRows, ...metricsRows } as const;

/** SettingName is the name of a setting, in the form of the option. */
export type SettingName = keyof typeof settingsTable;

/**
 * Settings are all settings, complete and validated. Durations are in milliseconds, and settings whose names end
 * with `Seconds` are in seconds.
 */
export type Settings = ValuesOf<typeof settingsTable>;

/** SettingsOptions contains the settings that code may pass. Environment variables override them. */
export type SettingsOptions = GivenOf<typeof ownRows> & GivenOf<typeof logRows> & GivenOf<typeof metricsRows>;

/** variableOf returns the environment variable of a setting, such as `LAMEDUCK_SHUTDOWN_DELAY_DURATION`. */
export function variableOf(name: string): string {
  return `LAMEDUCK_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
