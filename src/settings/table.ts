// The settings: one row each. Types, defaults, validation, variables and `docs/settings.md` all follow from this table.
import { boolean, duration, limit, processSignals, seconds, type Kind } from './kinds.ts';
import type { Duration } from './duration.ts';

/** Row is one setting; its variable is `LAMEDUCK_` and the option in upper snake case. */
export interface Row<Value, Given = Value> {
  readonly kind: Kind<Value>;
  /** The default, given whether the process runs in a cluster. */
  readonly default: (inCluster: boolean) => Value;
  /** How the default is described when it depends on something. */
  readonly defaultText?: string;
  /** The apiserver's flag or the pod's field that the setting is named after. */
  readonly namedAfter?: string;
  readonly description: string;
  /** Only for the type: what code may pass. */
  readonly given?: Given;
}

function row<Value, Given = Value>(definition: Row<Value, Given>): Row<Value, Given> {
  return definition;
}

/** settingsTable has one row for each setting. */
export const settingsTable = {
  shutdownDelayDuration: row<number, Duration>({
    kind: duration,
    default: (inCluster) => (inCluster ? 10_000 : 0),
    defaultText: '`10s` in a cluster (`KUBERNETES_SERVICE_HOST` is set), else `0s`',
    namedAfter: '--shutdown-delay-duration',
    description:
      'How long everything is still served after the process signal, while `/readyz` is red and clients are asked, one connection after another, to leave.',
  }),
  shutdownSendRetryAfter: row<boolean>({
    kind: boolean,
    default: () => false,
    namedAfter: '--shutdown-send-retry-after',
    description:
      'Whether the listener stays open during the drain and answers new connections with 429 and `Retry-After`, instead of closing.',
  }),
  preShutdownHookTimeout: row<number, Duration>({
    kind: limit,
    default: () => 5_000,
    description: 'The limit of each pre-shutdown hook that has none of its own.',
  }),
  destroyHookTimeout: row<number, Duration>({
    kind: limit,
    default: () => 3_000,
    description: 'The limit inside which all destroy hooks run, one after another.',
  }),
  terminationGracePeriodSeconds: row<number>({
    kind: seconds,
    default: () => 30,
    namedAfter: 'the pod’s `terminationGracePeriodSeconds`',
    description: 'The pod’s own value, which a pod cannot read: the kubelet sends SIGKILL when it has passed.',
  }),
  preStopSeconds: row<number>({
    kind: seconds,
    default: () => 0,
    namedAfter: 'the container’s `lifecycle.preStop`',
    description: 'What the container’s preStop hook takes of the grace period before the process signal arrives.',
  }),
  shutdownSignals: row<readonly NodeJS.Signals[], readonly NodeJS.Signals[] | string>({
    kind: processSignals,
    default: () => ['SIGTERM', 'SIGINT'],
    namedAfter: 'the image’s STOPSIGNAL',
    description: 'The process signals that begin the shutdown; a second one ends the process at once with code 1.',
  }),
  healthCheckTimeout: row<number, Duration>({
    kind: limit,
    default: () => 900,
    description: 'The limit of each health check; keep it below the probe’s `timeoutSeconds`.',
  }),
} as const;

/** SettingName is the name of a setting, as an option spells it. */
export type SettingName = keyof typeof settingsTable;

/** Settings are complete and validated: durations in milliseconds, times of the pod in seconds. */
export type Settings = {
  readonly [Name in SettingName]: (typeof settingsTable)[Name] extends Row<infer Value, infer _> ? Value : never;
};

/** SettingsOptions is what code may pass; the environment has the last word. */
export type SettingsOptions = {
  readonly [Name in SettingName]?:
    ((typeof settingsTable)[Name] extends Row<infer _, infer Given> ? Given : never) | undefined;
};

/** variableOf returns the environment variable of a setting: `LAMEDUCK_SHUTDOWN_DELAY_DURATION`. */
export function variableOf(name: string): string {
  return `LAMEDUCK_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
