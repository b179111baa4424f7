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
  path,
  paths,
  port,
  processSignals,
  seconds,
  stallLimit,
} from './kinds.ts';
import type { Duration } from './duration.ts';
import { row, type GivenOf, type ValuesOf } from './row.ts';

/** settingsTable has one row for each setting. */
export const settingsTable = {
  /**
   * How long everything is still served after the process signal, while `/readyz` is red and clients are asked, one
   * connection after another, to leave. `0s` is no delay. In development a delay from code is replaced by `0s`.
   *
   * @default `10s` in a cluster (`KUBERNETES_SERVICE_HOST` is set), else `0s`
   */
  shutdownDelayDuration: row<number, Duration>({
    kind: duration,
    default: (inCluster) => (inCluster ? 10_000 : 0),
    namedAfter: '--shutdown-delay-duration',
  }),
  /**
   * Whether the listener stays open during the drain and answers new connections with 429 and `Retry-After`, instead of
   * closing.
   *
   * @default `false`
   */
  shutdownSendRetryAfter: row<boolean>({
    kind: boolean,
    default: () => false,
    namedAfter: '--shutdown-send-retry-after',
  }),
  /**
   * How long the drain takes to end event streams, watches and every other long-running request, one after another; `0s`
   * ends them all at once. Never longer than the drain.
   *
   * @default `10s`
   */
  shutdownWatchTerminationGracePeriod: row<number, Duration>({
    kind: duration,
    default: () => 10_000,
    namedAfter: '--shutdown-watch-termination-grace-period',
  }),
  /**
   * What an event stream’s client is told to wait before it comes back, when the drain ends the stream: a random time
   * around it, from half to one and a half. `0s` tells it nothing.
   *
   * @default `3s`
   */
  eventStreamRetry: row<number, Duration>({
    kind: duration,
    default: () => 3_000,
    namedAfter: 'the field `retry` of an event stream',
  }),
  /**
   * Which event streams the drain ends: those of a GET that accepts `text/event-stream` alone (`reconnecting`), `all` or
   * `none`. It waits for every other one as for any response, such as that of an LLM.
   *
   * @default `reconnecting`
   */
  eventStreams: row<'reconnecting' | 'all' | 'none'>({
    kind: choice('reconnecting', 'all', 'none'),
    default: () => 'reconnecting',
  }),
  /**
   * The limit of each pre-shutdown hook that has none of its own.
   *
   * @default `5s`
   */
  preShutdownHookTimeout: row<number, Duration>({ kind: limit, default: () => 5_000 }),
  /**
   * The limit inside which all destroy hooks run, one after another.
   *
   * @default `3s`
   */
  destroyHookTimeout: row<number, Duration>({ kind: limit, default: () => 3_000 }),
  /**
   * The pod’s own value in seconds, which a pod cannot read: the kubelet sends SIGKILL when it has passed.
   *
   * @default `30`
   */
  terminationGracePeriodSeconds: row<number>({
    kind: seconds,
    default: () => 30,
    namedAfter: 'the pod’s `terminationGracePeriodSeconds`',
  }),
  /**
   * The seconds that the container’s preStop hook takes of the grace period before the process signal arrives. `0` is
   * none.
   *
   * @default `0`
   */
  preStopSeconds: row<number>({
    kind: seconds,
    default: () => 0,
    namedAfter: 'the container’s `lifecycle.preStop`',
  }),
  /**
   * The process signals that begin the shutdown; a second one ends the process at once with code 1.
   *
   * @default `SIGTERM,SIGINT`
   */
  shutdownSignals: row<readonly NodeJS.Signals[], readonly NodeJS.Signals[] | string>({
    kind: processSignals,
    default: () => ['SIGTERM', 'SIGINT'],
    namedAfter: 'the image’s STOPSIGNAL',
  }),
  /**
   * When the program’s own listeners of the shutdown signals are called: after the drain and the destroy hooks (`hold`), or
   * at once (`run`). Set `run` if the program forwards the signal to child processes or stops a queue worker.
   *
   * @default `hold`
   */
  ownSignalListeners: row<'hold' | 'run'>({ kind: choice('hold', 'run'), default: () => 'hold' }),
  /**
   * The limit of each health check; keep it below the probe’s `timeoutSeconds`.
   *
   * @default `900ms`
   */
  healthCheckTimeout: row<number, Duration>({
    kind: limit,
    default: () => 900,
  }),
  /**
   * How long after its registration a post-start hook may be unfinished until `/livez` fails, so that a start that hangs
   * is restarted; `0s` never lets the start fail `/livez`.
   *
   * @default `0s`
   */
  livezGracePeriod: row<number, Duration>({
    kind: duration,
    default: () => 0,
    namedAfter: '--livez-grace-period',
  }),
  /**
   * The TCP port on which a thread of its own answers `/readyz`, `/livez`, `/healthz` and `/metrics`, also while the event
   * loop is blocked. `off`, or `0`, is none. A port that is set and cannot be had ends the process; under
   * `lameduck/register` it is one line in the log.
   *
   * @default `off`
   */
  probePort: row<number, number | 'off'>({
    kind: port,
    default: () => 0,
  }),
  /**
   * The address that `probePort` is bound to.
   *
   * @default unset: every address, of IPv6 and of IPv4
   */
  probeHost: row<string | undefined, string>({
    kind: host,
    default: () => undefined,
  }),
  /**
   * The program’s own health paths, such as `/health,/ready`: GET and HEAD answer 503 from `ShutdownInitiated` on. A final
   * slash is ignored. `/livez` is invalid.
   *
   * @default `off`
   */
  readinessPaths: row<readonly string[], readonly string[] | string>({ kind: paths, default: () => [] }),
  /**
   * Whether the program’s own servers answer `/readyz`, `/livez` and `/healthz`; `probePort` does in any case.
   *
   * @default `on`
   */
  probePaths: row<'on' | 'off'>({ kind: choice('on', 'off'), default: () => 'on' }),
  /**
   * How long the event loop has to be blocked until `/readyz` on `probePort` fails, so that the pod leaves its services;
   * `0s` is never.
   *
   * @default `5s`
   */
  readyzEventLoopStallLimit: row<number, Duration>({
    kind: stallLimit,
    default: () => 5_000,
  }),
  /**
   * How long the event loop has to be blocked until `/livez` and `/healthz` on `probePort` fail, so that the container is
   * restarted; `0s` is never.
   *
   * @default `30s`
   */
  livezEventLoopStallLimit: row<number, Duration>({
    kind: stallLimit,
    default: () => 30_000,
  }),
  /**
   * The path at which the servers answer with metrics, ahead of the program’s own routes; those of the health checks stand
   * below it, at `/slis`. On `probePort` they are at `/metrics` in any case.
   *
   * @default `off`
   */
  metricsPath: row<string>({
    kind: path,
    default: () => '',
  }),
  /**
   * The file that the kubelet reads when the container has ended. A process that ends badly writes there why, if the file
   * exists and is empty; `off` writes nothing.
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
   * How long a connection is kept without a request; longer than the load balancer in front keeps its own.
   * `headersTimeout` is raised with it where it is shorter, and never beyond the server’s own `requestTimeout`.
   *
   * @default unset: the program’s own
   */
  keepAliveTimeout: row<number | undefined, Duration>({
    kind: limit,
    default: () => undefined,
    namedAfter: 'Node’s `server.keepAliveTimeout`',
  }),
  /**
   * How long a request that is not long-running may take until it is answered with 504. `0s` is no limit.
   *
   * @default `0s`: off
   */
  requestTimeout: row<number, Duration>({
    kind: duration,
    default: () => 0,
    namedAfter: '--request-timeout',
  }),
  /**
   * How many requests that are not long-running may be in flight; what comes beyond is answered with 429. `0` is no limit.
   *
   * @default `0`: off
   */
  maxRequestsInflight: row<number>({
    kind: count,
    default: () => 0,
    namedAfter: '--max-requests-inflight',
  }),
  /**
   * The probability with which a request on HTTP/2 asks its client to connect anew, so that long-lived connections spread
   * over the replicas. `0` is never.
   *
   * @default `0`: off
   */
  goawayChance: row<number>({
    kind: chance,
    default: () => 0,
    namedAfter: '--goaway-chance',
  }),
} as const;

/** SettingName is the name of a setting, as an option spells it. */
export type SettingName = keyof typeof settingsTable;

/** Settings are complete and validated: durations in milliseconds, times of the pod in seconds. */
export type Settings = ValuesOf<typeof settingsTable>;

/** SettingsOptions is what code may pass; the environment has the last word. */
export type SettingsOptions = GivenOf<typeof settingsTable>;

/** variableOf returns the environment variable of a setting: `LAMEDUCK_SHUTDOWN_DELAY_DURATION`. */
export function variableOf(name: string): string {
  return `LAMEDUCK_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
