{{/* The alerts. Those on lameduck's own metrics and on its log say what is wrong with a shutdown; those on kube-state-metrics
say what no process can tell of itself. */}}

{{/* The pods of this release, as scraped metrics and kube-state-metrics name them. Of a Deployment with a longer name than
46 Kubernetes cuts the hash of the template and the hyphen behind it, so that the pod's name fits in 63. */}}
{{- define "lameduck.podsOf" -}}
{{- $name := include "lameduck.fullname" . -}}
namespace="{{ .Release.Namespace }}",pod=~"{{ $name }}-[a-z0-9]+{{ ternary "-?" "-" (gt (len $name) 46) }}[a-z0-9]+"
{{- end -}}

{{/* One alert: (list $ name severity for expression summary description). */}}
{{- define "lameduck.alert" -}}
{{- $ := index . 0 -}}
{{- $name := index . 1 -}}
- alert: {{ $name }}
  expr: {{ index . 4 | quote }}
  for: {{ index . 3 }}
  labels:
    severity: {{ index . 2 | quote }}
    {{- with $.Values.alerts.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    summary: {{ index . 5 | quote }}
    description: {{ index . 6 | quote }}
    {{- with $.Values.alerts.runbookUrl }}
    runbook_url: {{ printf "%s#%s" . ($name | lower) | quote }}
    {{- end }}
{{- end -}}

{{- define "lameduck.shutdownAlerts" -}}
{{- $pods := include "lameduck.podsOf" . -}}
{{- $v := .Values.alerts -}}
{{- include "lameduck.alert" (list . "LameduckShutdownWouldCutRequests" $v.warning "5m"
  (printf "lameduck_shutdown_overrun_predicted{%s} == 1" $pods)
  "{{ $labels.pod }} could not drain in its budget now."
  "A rollout would cut requests. Raise lameduck.longestRequestDuration, or find the slow route.") }}
{{ include "lameduck.alert" (list . "LameduckShutdownRunsOutOfTime" $v.critical "0s"
  (printf "lameduck_shutdown_overrun_predicted{%s} == 1 and lameduck_shutdown_remaining_seconds{%s} < %d" $pods $pods (int64 $v.remainingSeconds))
  "{{ $labels.pod }} has {{ $value }} of its shutdown and will cut requests."
  "The drain is not expected to end in the budget. The final line of the log will say which requests were cut.") }}
{{ include "lameduck.alert" (list . "LameduckRequestsCut" $v.critical "0s"
  (printf "max_over_time(lameduck_shutdown_requests_total{outcome=\"cut\",%s}[15m]) > 0" $pods)
  "{{ $labels.pod }} has cut {{ $value }} requests at the end of its budget."
  "Requests take longer than lameduck.longestRequestDuration says.") }}
{{ include "lameduck.alert" (list . "LameduckHookFails" $v.warning "0s"
  (printf "increase(lameduck_hook_failures_total{%s}[15m]) > 0" $pods)
  "A {{ $labels.kind }} hook of {{ $labels.pod }} has failed."
  "Its error is in the log, in the line `hook failed`.") }}
{{ include "lameduck.alert" (list . "LameduckEventLoopBlocked" $v.warning "0s"
  (printf "increase(lameduck_event_loop_stalls_total{%s}[15m]) > 0" $pods)
  "The event loop of {{ $labels.pod }} was blocked for longer than readyzEventLoopStallLimit."
  "While it is blocked nothing is answered but the probe port.") }}
{{ include "lameduck.alert" (list . "LameduckIsNotScraped" $v.warning "15m"
  (printf "absent(lameduck_build_info{%s})" $pods)
  "Nothing of this release is scraped."
  "Either its monitor is not taken up by a Prometheus, or the probe port cannot be reached.") }}
{{- end -}}

{{- define "lameduck.workloadAlerts" -}}
{{- $pods := include "lameduck.podsOf" . -}}
{{- $v := .Values.alerts -}}
{{- $namespace := .Release.Namespace -}}
{{- $name := include "lameduck.fullname" . -}}
{{- include "lameduck.alert" (list . "LameduckContainerKilled" $v.critical "0s"
  (printf "kube_pod_container_status_last_terminated_exitcode{container=\"server\",%s} == 137 and on(namespace,pod,container) increase(kube_pod_container_status_restarts_total{container=\"server\",%s}[15m]) > 0" $pods $pods)
  "{{ $labels.pod }} was killed by SIGKILL and restarted."
  "It was out of memory, or it did not end in its grace period. What it served is lost.") }}
{{ include "lameduck.alert" (list . "LameduckContainerRestarts" $v.warning "0s"
  (printf "increase(kube_pod_container_status_restarts_total{container=\"server\",%s}[1h]) > 3" $pods)
  "{{ $labels.pod }} has restarted {{ $value }} times in an hour."
  "kubectl describe pod shows its exit code, and the last lines of its log.") }}
{{ include "lameduck.alert" (list . "LameduckReadinessFlaps" $v.warning "0s"
  (printf "changes(kube_pod_status_ready{condition=\"true\",%s}[15m]) > 6" $pods)
  "{{ $labels.pod }} becomes ready and unready over and over."
  "A check that it shares with the other replicas takes all of them out at once.") }}
{{ include "lameduck.alert" (list . "LameduckRolloutIsStuck" $v.critical "5m"
  (printf "kube_deployment_status_condition{namespace=%q,deployment=%q,condition=\"Progressing\",status=\"false\"} == 1" $namespace $name)
  "The rollout of {{ $labels.deployment }} makes no progress."
  "The new pods do not become ready. The old ones go on serving.") }}
{{- if .Values.podDisruptionBudget.enabled }}
{{ include "lameduck.alert" (list . "LameduckNodesCannotBeDrained" $v.warning "15m"
  (printf "kube_poddisruptionbudget_status_pod_disruptions_allowed{namespace=%q,poddisruptionbudget=%q} == 0" $namespace $name)
  "{{ $labels.poddisruptionbudget }} has allowed no disruption for a quarter of an hour."
  "Pods are not ready, and nodes cannot be drained.") }}
{{- end }}
{{- if .Values.autoscaling.enabled }}
{{ include "lameduck.alert" (list . "LameduckAtMaximumReplicas" $v.warning "15m"
  (printf "kube_horizontalpodautoscaler_status_current_replicas{namespace=%q,horizontalpodautoscaler=%q} >= %d" $namespace $name (int64 .Values.autoscaling.maxReplicas))
  "{{ $labels.horizontalpodautoscaler }} cannot scale up any more."
  "Raise autoscaling.maxReplicas, or find out where the load comes from.") }}
{{- end }}
{{- end -}}

{{/* A pod that has ended is scraped no more: what it has come to is in the final line of its log. */}}
{{- define "lameduck.logAlerts" -}}
{{- $lines := printf "{%s} |= `lameduck/shutdown/v1` | json" (include "lameduck.podsOf" .) -}}
{{- $v := .Values.alerts -}}
{{- include "lameduck.alert" (list . "LameduckShutdownCutRequests" $v.critical "0s"
  (printf "sum by (pod) (sum_over_time(%s | unwrap requests_cut [15m])) > 0" $lines)
  "{{ $labels.pod }} ended with {{ $value }} requests cut."
  "The final line of its log names them in `unfinished`. They take longer than lameduck.longestRequestDuration says.") }}
{{ include "lameduck.alert" (list . "LameduckShutdownFailed" $v.warning "0s"
  (printf "sum by (pod, exitCode) (count_over_time(%s | exitCode != `0` [15m])) > 0" $lines)
  "{{ $labels.pod }} ended with exit code {{ $labels.exitCode }}."
  "1 is a second process signal, 80 work that was left, 81 a hook that failed, 82 an uncaught error, 83 leadership lost.") }}
{{- end -}}
