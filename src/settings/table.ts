// The settings: one row each. Types, defaults, validation, variables and `docs/settings.md` all follow from this table,
// and what an editor shows of an option is the comment above its row.
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
   * How long every request is still served after the process signal. During this time `/readyz` fails, and connections are
   * closed one after another. `0s` is no delay. In development, `0s` replaces a delay from code.
   *
   * @default `10s` in a cluster (`KUBERNETES_SERVICE_HOST` is set), else `0s`
   */
  shutdownDelayDuration: row<number, Duration>({
    kind: duration,
    default: (inCluster) => (inCluster ? 10_000 : 0),
    namedAfter: '--shutdown-delay-duration',
  }),
  /**
   * If true, the listener stays open during the drain, and new connections get a 429 with `Retry-After`. If false, the
   * listener closes.
   *
   * @default `false`
   */
  shutdownSendRetryAfter: row<boolean>({
    kind: boolean,
    default: () => false,
    namedAfter: '--shutdown-send-retry-after',
  }),
  /**
   * How long the drain takes to end event streams, watches and every other long-running request, one after another. `0s`
   * ends all of them at once. The drain limits this time.
   *
   * @default `10s`
   */
  shutdownWatchTerminationGracePeriod: row<number, Duration>({
    kind: duration,
    default: () => 10_000,
    namedAfter: '--shutdown-watch-termination-grace-period',
  }),
  /**
   * The reconnection time that an event stream sends to its client when the drain ends the stream. Each client gets a
   * random time, from half of this value to one and a half times this value. `0s` sends none.
   *
   * @default `3s`
   */
  eventStreamRetry: row<number, Duration>({
    kind: duration,
    default: () => 3_000,
    namedAfter: 'the field `retry` of an event stream',
  }),
  /**
   * Which event streams the drain ends: those of a GET that accepts only `text/event-stream` (`reconnecting`), `all` or
   * `none`. The drain waits for every other event stream as for an ordinary response, such as that of an LLM.
   *
   * @default `reconnecting`
   */
  eventStreams: row<'reconnecting' | 'all' | 'none'>({
    kind: choice('reconnecting', 'all', 'none'),
    default: () => 'reconnecting',
  }),
  /**
   * The paths of long-running requests, such as `/socket.io,/watch`, with all paths below them. Use it if the option
   * `longRunning` cannot name them, for example under `lameduck/register`. A trailing slash is ignored. `/` is invalid.
   *
   * @default `off`
   */
  longRunningPaths: row<readonly string[], readonly string[] | string>({ kind: pathPrefixes, default: () => [] }),
  /**
   * The limit of each pre-shutdown hook that has no limit of its own.
   *
   * @default `5s`
   */
  preShutdownHookTimeout: row<number, Duration>({ kind: limit, default: () => 5_000 }),
  /**
   * The limit for all destroy hooks together. They run one after another.
   *
   * @default `3s`
   */
  destroyHookTimeout: row<number, Duration>({ kind: limit, default: () => 3_000 }),
  /**
   * The `terminationGracePeriodSeconds` of the pod, in seconds. The kubelet sends SIGKILL after this time. A process
   * cannot read it from its pod.
   *
   * @default `30`
   */
  terminationGracePeriodSeconds: row<number>({
    kind: seconds,
    default: () => 30,
    namedAfter: 'the pod’s `terminationGracePeriodSeconds`',
  }),
  /**
   * The seconds of the grace period that the preStop hook of the container uses before the process signal is sent. `0` is
   * no hook.
   *
   * @default `0`
   */
  preStopSeconds: row<number>({
    kind: seconds,
    default: () => 0,
    namedAfter: 'the container’s `lifecycle.preStop`',
  }),
  /**
   * The process signals that start the shutdown. A second one ends the process at once with code 1.
   *
   * @default `SIGTERM,SIGINT`
   */
  shutdownSignals: row<readonly NodeJS.Signals[], readonly NodeJS.Signals[] | string>({
    kind: processSignals,
    default: () => ['SIGTERM', 'SIGINT'],
    namedAfter: 'the image’s STOPSIGNAL',
  }),
  /**
   * When the program’s own listeners of the shutdown signals are called: after the drain and the destroy hooks (`hold`),
   * or at the signal (`run`). Set `run` if the program forwards the signal to child processes or stops a queue worker.
   *
   * @default `hold`
   */
  ownSignalListeners: row<'hold' | 'run'>({ kind: choice('hold', 'run'), default: () => 'hold' }),
  /**
   * The limit of each health check. Keep it below the `timeoutSeconds` of the probe.
   *
   * @default `900ms`
   */
  healthCheckTimeout: row<number, Duration>({
    kind: limit,
    default: () => 900,
  }),
  /**
   * The time after its registration in which a post-start hook must end. After that, `/livez` fails, so that the kubelet
   * restarts a start that hangs. `0s` never lets a start fail `/livez`.
   *
   * @default `0s`
   */
  livezGracePeriod: row<number, Duration>({
    kind: duration,
    default: () => 0,
    namedAfter: '--livez-grace-period',
  }),
  /**
   * The TCP port on which a worker thread answers `/readyz`, `/livez`, `/healthz` and `/metrics`, also while the event
   * loop is blocked. `off` or `0` is no port. If the port is in use, the process exits with an error; under
   * `lameduck/register`, the log has one line instead.
   *
   * @default `off`
   */
  probePort: row<number, number | 'off'>({
    kind: port,
    default: () => 0,
  }),
  /**
   * The address to which `probePort` is bound.
   *
   * @default unset: every address, of IPv6 and of IPv4
   */
  probeHost: row<string | undefined, string>({
    kind: host,
    default: () => undefined,
  }),
  /**
   * The program’s own health paths, such as `/health,/ready`. From `ShutdownInitiated` on, GET and HEAD on them get a 503.
   * A trailing slash is ignored. `/livez` is invalid.
   *
   * @default `off`
   */
  readinessPaths: row<readonly string[], readonly string[] | string>({ kind: paths, default: () => [] }),
  /**
   * Whether the program’s own servers answer `/readyz`, `/livez` and `/healthz`. `probePort` answers them in any case.
   *
   * @default `on`
   */
  probePaths: row<'on' | 'off'>({ kind: choice('on', 'off'), default: () => 'on' }),
  /**
   * How long the event loop must be blocked before `/readyz` on `probePort` fails, so that the pod is removed from its
   * Services. `0s` is never.
   *
   * @default `5s`
   */
  readyzEventLoopStallLimit: row<number, Duration>({
    kind: stallLimit,
    default: () => 5_000,
  }),
  /**
   * How long the event loop must be blocked before `/livez` and `/healthz` on `probePort` fail, so that the kubelet
   * restarts the container. `0s` is never.
   *
   * @default `30s`
   */
  livezEventLoopStallLimit: row<number, Duration>({ kind: stallLimit, default: () => 30_000 }),
  /**
   * The file to which each request of the program is appended as events of audit.k8s.io, or `-` for standard output. `off`
   * writes nothing.
   *
   * @default `off`
   */
  auditLogPath: row<string>({
    kind: logFile,
    default: () => '',
    namedAfter: '--audit-log-path',
  }),
  /**
   * The file from which the kubelet reads the termination message of the container. On an abnormal exit, the process
   * writes the reason to it, if the file exists and is empty. `off` writes nothing.
   *
   * @default `/dev/termination-log`
   */
  terminationMessagePath: row<string>({
    kind: file,
    default: () => '/dev/termination-log',
    namedAfter: 'the container’s `terminationMessagePath`',
  }),
  /**
   * The file that keeps, across restarts of the container, which phase the process has reached. At the next start, the log and
   * the metric `lameduck_previous_run_info` say how the previous run ended. Put it on a volume of the pod.
   *
   * @default `off`
   */
  checkpointPath: row<string>({ kind: file, default: () => '' }),
  /**
   * The unix socket on which a thread of its own says what the process does and waits for, also while the event loop is
   * blocked. `lameduck inspect` prints this. Only the user of the process can connect.
   *
   * @default `off`
   */
  debugSocketPath: row<string>({ kind: file, default: () => '', namedAfter: '--debug-socket-path' }),
  /**
   * Whether `lameduck inspect --stack` may pause the main thread for some milliseconds, while the event loop is blocked, to
   * read its stack.
   *
   * @default `false`
   */
  debugSocketStack: row<boolean>({ kind: boolean, default: () => false }),
  /**
   * How long an idle connection stays open. Set it longer than the idle timeout of the load balancer or proxy. If
   * `headersTimeout` is shorter, it is raised too, but never above the server’s own `requestTimeout`.
   *
   * @default unset: the program’s own
   */
  keepAliveTimeout: row<number | undefined, Duration>({
    kind: limit,
    default: () => undefined,
    namedAfter: 'Node’s `server.keepAliveTimeout`',
  }),
  /**
   * How long a request that is not long-running may take before it is answered with 504. `0s` is no limit.
   *
   * @default `0s`: off
   */
  requestTimeout: row<number, Duration>({ kind: duration, default: () => 0, namedAfter: '--request-timeout' }),
  /**
   * The most requests that may be in flight, without long-running requests. Further requests get a 429. `0` is no limit.
   *
   * @default `0`: off
   */
  maxRequestsInflight: row<number>({ kind: count, default: () => 0, namedAfter: '--max-requests-inflight' }),
  /**
   * The probability that an HTTP/2 request makes its client open a new connection, so that long-lived connections spread
   * over the replicas. `0` is never.
   *
   * @default `0`: off
   */
  goawayChance: row<number>({ kind: chance, default: () => 0, namedAfter: '--goaway-chance' }),
} as const;

/** settingsTable has one row for each setting. */
export const settingsTable = { ...ownRows, ...logRows, ...metricsRows } as const;

/** SettingName is the name of a setting, as an option spells it. */
export type SettingName = keyof typeof settingsTable;

/** Settings are complete and validated: durations in milliseconds, times of the pod in seconds. */
export type Settings = ValuesOf<typeof settingsTable>;

/** SettingsOptions is what code may pass; the environment has the last word. */
export type SettingsOptions = GivenOf<typeof ownRows> & GivenOf<typeof logRows> & GivenOf<typeof metricsRows>;

/** variableOf returns the environment variable of a setting: `LAMEDUCK_SHUTDOWN_DELAY_DURATION`. */
export function variableOf(name: string): string {
  return `LAMEDUCK_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
