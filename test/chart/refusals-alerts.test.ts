import { refusal, refused } from './refusal.ts';

const rules = (LameduckContainerRestarts: unknown) => ({ alerts: { rules: { LameduckContainerRestarts } } });

refused('alerts', [
  refusal(
    'H-146 no change is made to an alert that does not exist',
    { alerts: { rules: { LameduckContainerRestart: { enabled: false } } } },
    /^alerts\.rules\.LameduckContainerRestart \(\{"enabled":false\}\): must be the name of an alert: LameduckAtMaximumReplicas, .*; correct the name$/,
  ),
  refusal(
    'H-146 an alert is on or off',
    rules({ enabled: 'no' }),
    /^alerts\.rules\.LameduckContainerRestarts\.enabled \(no\): must be true or false; correct it$/,
  ),
  refusal(
    'H-146 Prometheus can read how long a condition must hold',
    rules({ for: '1.5m' }),
    /^alerts\.rules\.LameduckContainerRestarts\.for \(1\.5m\): must be a duration that Prometheus reads; /,
  ),
  refusal(
    'H-146 a threshold is a number',
    rules({ threshold: 'many' }),
    /^alerts\.rules\.LameduckContainerRestarts\.threshold \(many\): must be a number of at least 0; correct it$/,
  ),
  refusal(
    'H-146 a severity is a text',
    rules({ severity: 3 }),
    /^alerts\.rules\.LameduckContainerRestarts\.severity \(3\): must be a text; /,
  ),
  refusal(
    'H-146 an alert without a threshold gets none',
    { alerts: { rules: { LameduckRolloutIsStuck: { threshold: 1 } } } },
    /^alerts\.rules\.LameduckRolloutIsStuck\.threshold \(1\): this alert has enabled, for, severity; use one of them$/,
  ),
  refusal(
    'H-146 the changes to an alert are a map',
    rules(false),
    /^alerts\.rules\.LameduckContainerRestarts \(false\): must be a map; write it as \{ enabled: false \}$/,
  ),
  refusal(
    'H-146 rules of one release need its pods',
    { rulesOnly: true, prometheusRule: { enabled: true } },
    /^prometheusRule\.scope \(release\): must be cluster with rulesOnly, because this release has no pods; /,
  ),
]);
