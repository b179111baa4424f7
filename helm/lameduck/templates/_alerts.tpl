{{/* Templates that the definitions of all alerts use: the default settings of alerts, their labels, and selectors of
metrics. */}}

{{/* The default settings of each alert. `alerts.rules` overrides them. docs/alerts.md has the unit of each threshold. */}}
{{- define "lameduck.alertDefaults" -}}
LameduckShutdownWouldCutRequests: { severity: warning, for: 5m }
LameduckShutdownRunsOutOfTime: { severity: critical, for: 0s, threshold: 60 }
LameduckRequestsCut: { severity: critical, for: 0s, threshold: 0 }
LameduckHookFails: { severity: warning, for: 0s, threshold: 0 }
LameduckEventLoopBlocked: { severity: warning, for: 0s, threshold: 0 }
LameduckIsNotScraped: { severity: warning, for: 15m }
LameduckContainerKilled: { severity: critical, for: 0s, threshold: 0 }
LameduckLeadershipLost: { severity: warning, for: 0s, threshold: 0 }
LameduckContainerRestarts: { severity: warning, for: 0s, threshold: 3 }
LameduckReadinessFlaps: { severity: warning, for: 0s, threshold: 6 }
LameduckRolloutIsStuck: { severity: critical, for: 5m }
LameduckNodesCannotBeDrained: { severity: warning, for: 15m }
LameduckAtMaximumReplicas: { severity: warning, for: 15m }
LameduckShutdownCutRequests: { severity: critical, for: 0s, threshold: 0 }
LameduckShutdownFailed: { severity: warning, for: 0s, threshold: 0 }
{{- end -}}

{{/* Returns the settings of the alert `name`, as JSON. Arguments: (list $ name). */}}
{{- define "lameduck.alertSettings" -}}
{{- $ := index . 0 -}}{{- $name := index . 1 -}}
{{- $defaults := get (include "lameduck.alertDefaults" $ | fromYaml) $name -}}
{{- $given := get (default dict $.Values.alerts.rules) $name | default dict -}}
{{- mergeOverwrite (dict "enabled" true) $defaults (deepCopy $given) | toJson -}}
{{- end -}}

{{- define "lameduck.threshold" -}}
{{- include "lameduck.text" (include "lameduck.alertSettings" . | fromJson).threshold -}}
{{- end -}}

{{/* Returns one alert. Arguments: (list $ scope name expression summary description). With the scope `release`, this
template adds the labels `release`, `namespace` and `workload` to the alert. With the scope `cluster`, it adds none,
because the metrics in `expression` already have these labels. */}}
{{- define "lameduck.alert" -}}
{{- $ := index . 0 -}}
{{- $name := index . 2 -}}
{{- $settings := include "lameduck.alertSettings" (list $ $name) | fromJson -}}
{{- if $settings.enabled }}
- alert: {{ $name }}
  expr: {{ index . 3 | quote }}
  for: {{ $settings.for }}
  labels:
    severity: {{ get $.Values.alerts $settings.severity | default $settings.severity | quote }}
    {{- if ne (index . 1) "cluster" }}
    release: {{ $.Release.Name | quote }}
    namespace: {{ $.Release.Namespace | quote }}
    workload: {{ include "lameduck.fullname" $ | quote }}
    {{- end }}
    {{- with $.Values.alerts.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    summary: {{ index . 4 | quote }}
    description: {{ index . 5 | quote }}
    {{- with $.Values.alerts.runbookUrl }}
    runbook_url: {{ printf "%s#%s" . ($name | lower) | quote }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* Returns the PromQL selector of the pods of this Helm release. The name of a pod is the name of the Deployment, a
hash, a hyphen and a random part. If the name of the Deployment is longer than 46 characters, Kubernetes shortens the
hash and omits the hyphen. The name of a pod has at most 63 characters. The selector then also matches names without the
hyphen. */}}
{{- define "lameduck.podsOf" -}}
{{- $name := include "lameduck.fullname" . -}}
namespace="{{ .Release.Namespace }}",pod=~"{{ $name }}-[a-z0-9]+{{ ternary "-?" "-" (gt (len $name) 46) }}[a-z0-9]+"
{{- end -}}

{{/* Returns the PromQL selector of the pods in a scope. Arguments: (list $ scope). */}}
{{- define "lameduck.podsIn" -}}
{{- if ne (index . 1) "cluster" -}}{{- include "lameduck.podsOf" (index . 0) -}}{{- end -}}
{{- end -}}

{{/* Returns the PromQL selector for metrics about one object of the Helm release. Arguments: (list $ scope label). The
metric label `label` contains the name of the object. */}}
{{- define "lameduck.objectIn" -}}
{{- $ := index . 0 -}}
{{- if ne (index . 1) "cluster" -}}
{{- printf "namespace=%q,%s=%q" $.Release.Namespace (index . 2) (include "lameduck.fullname" $) -}}
{{- end -}}
{{- end -}}

{{/* Builds a PromQL query for metrics of kube-state-metrics about pods. These metrics have no label with the name of
the Helm release. With the scope `cluster`, the query keeps only the pods that Prometheus scrapes through this chart. It
adds the labels `release` and `workload` of these pods. Arguments: (list scope expression labels). */}}
{{- define "lameduck.ofScrapedPods" -}}
{{- if ne (index . 0) "cluster" -}}
{{- index . 1 -}}
{{- else -}}
{{- $labels := index . 2 -}}
{{- printf "(%s) * on (%s) group_left (release, workload) max by (release, workload, %s) (max_over_time(lameduck_build_info{workload!=\"\"}[1h]))" (index . 1) $labels $labels -}}
{{- end -}}
{{- end -}}

{{/* Builds a PromQL query for metrics of kube-state-metrics about objects such as a Deployment or a
HorizontalPodAutoscaler. With the scope `cluster`, the query keeps only the objects of releases of this chart whose pods
Prometheus scrapes. It finds them by name, because all objects of a release have the name that the label `workload` of
the pods contains. Arguments: (list scope expression label). */}}
{{- define "lameduck.ofScrapedWorkloads" -}}
{{- if ne (index . 0) "cluster" -}}
{{- index . 1 -}}
{{- else -}}
{{- printf "label_replace(%s, \"workload\", \"$1\", %q, \"(.+)\") * on (namespace, workload) group_left (release) max by (release, namespace, workload) (max_over_time(lameduck_build_info{workload!=\"\"}[1h]))" (index . 1) (index . 2) -}}
{{- end -}}
{{- end -}}

{{/* Returns a PromQL query for the increase of a counter in the last 15 minutes, for each pod. Arguments: (list metric
selector more-labels). increase() does not count the first sample of a counter. If the counter is new, the query
therefore takes the value of the counter instead. increase() also extrapolates its result to all 15 minutes, so one
event gives a number slightly above 1. floor() rounds this number down to a whole number. */}}
{{- define "lameduck.risen" -}}
{{- $series := printf "%s{%s}" (index . 0) (index . 1) -}}
{{- printf "max by (release, namespace, workload, pod%s) (floor(increase(%s[15m])) > 0 or (max_over_time(%s[15m]) unless max_over_time(%s[15m] offset 15m)))" (index . 2) $series $series $series -}}
{{- end -}}
