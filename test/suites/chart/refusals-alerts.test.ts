import { refusal, refused } from './refusal.ts';

const rules = (LameduckContainerRestarts: unknown) => ({ alerts: { rules: { LameduckContainerRestarts } } });

refused('alerts', [
  refusal(
    'H-146 the chart rejects changes to an alert that does not exist',
    { alerts: { rules: { LameduckContainerRestart: { enabled: false } } } },
    /^alerts\.rules\.LameduckContainerRestart \(\{"enabled":false\}\): must be the name of an alert: LameduckAtMaximumReplicas, .*; correct the name$/,
  ),
  refusal(
    'H-146 the chart rejects `enabled` of an alert if it is not true or false',
    rules({ enabled: 'no' }),
    /^alerts\.rules\.LameduckContainerRestarts\.enabled \(no\): must be true or false; correct it$/,
  ),
  refusal(
    'H-146 the chart rejects a duration of an alert that Prometheus cannot parse',
    rules({ for: '1.5m' }),
    /^alerts\.rules\.LameduckContainerRestarts\.for \(1\.5m\): must be a duration that Prometheus accepts; /,
  ),
  refusal(
    'H-146 the chart rejects a threshold of an alert that is not a number',
    rules({ threshold: 'many' }),
    /^alerts\.rules\.LameduckContainerRestarts\.threshold \(many\): must be a number of at least 0; correct it$/,
  ),
  refusal(
    'H-146 the chart rejects a severity of an alert that is not a string',
    rules({ severity: 3 }),
    /^alerts\.rules\.LameduckContainerRestarts\.severity \(3\): must be a text; /,
  ),
  refusal(
    'H-146 the chart rejects a threshold for an alert that has none',
    { alerts: { rules: { LameduckRolloutIsStuck: { threshold: 1 } } } },
    /^alerts\.rules\.LameduckRolloutIsStuck\.threshold \(1\): this alert has only the fields enabled, for, severity; use one of these fields$/,
  ),
  refusal(
    'H-146 the chart rejects changes to an alert that are not a map',
    rules(false),
    /^alerts\.rules\.LameduckContainerRestarts \(false\): must be a map; write it as \{ enabled: false \}$/,
  ),
  refusal(
    'H-146 the chart rejects rulesOnly for the rules of one release, because the release would have no pods',
    { rulesOnly: true, prometheusRule: { enabled: true } },
    /^prometheusRule\.scope \(release\): must be cluster if rulesOnly is set, because this release has no pods; /,
  ),
  refusal(
    'H-146 the chart rejects a label in the values that the chart itself sets on alert rules, also in a release without pods',
    {
      rulesOnly: true,
      prometheusRule: { enabled: true, scope: 'cluster', labels: { 'app.kubernetes.io/name': 'rules' } },
    },
    /^prometheusRule\.labels\.app\.kubernetes\.io\/name \(rules\): the selector of the Deployment has this label/,
  ),
]);
