{{/* Returns the alerts that Loki's ruler evaluates on log lines. Arguments: (list $ scope). These alerts exist because
Prometheus rarely scrapes a pod's last values, but the pod's final log line contains them. */}}

{{/* Returns the given PromQL expression, which has one value for each pod. With the scope `cluster`, the result also
has the label `workload`, which is derived from the name of the pod. */}}
{{- define "lameduck.ofLoggedPods" -}}
{{- if ne (index . 0) "cluster" -}}
{{- index . 1 -}}
{{- else -}}
{{- printf "label_replace(%s, \"workload\", \"$1\", \"pod\", \"(.+?)-(?:[a-z0-9]{1,10}-[a-z0-9]{5}|[a-z0-9]{6,15})\")" (index . 1) -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.logAlerts" -}}
{{- $ := index . 0 -}}{{- $scope := index . 1 -}}
{{- $selector := include "lameduck.podsIn" . | default "pod=~\".+\"" -}}
{{- $lines := printf "{%s} |= `lameduck/shutdown/v1` | json" $selector -}}
{{- include "lameduck.alert" (list $ $scope "LameduckShutdownCutRequests"
  (printf "%s > %s" (include "lameduck.ofLoggedPods" (list $scope (printf "sum by (namespace, pod) (sum_over_time(%s | unwrap requests_cut [15m]))" $lines))) (include "lameduck.threshold" (list $ "LameduckShutdownCutRequests")))
  "{{ $labels.pod }} cut {{ $value }} requests during its shutdown."
  "The drain's time limit had passed, or clients had not acknowledged their responses. The final line of the log names the requests and clients in `unfinished`.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckShutdownFailed"
  (printf "%s > %s" (include "lameduck.ofLoggedPods" (list $scope (printf "sum by (namespace, pod, exitCode) (count_over_time(%s | exitCode != `0` [15m]))" $lines))) (include "lameduck.threshold" (list $ "LameduckShutdownFailed")))
  "{{ $labels.pod }} exited with code {{ $labels.exitCode }}."
  "Exit codes: 1 is a second process signal, 80 requests that were cut, 81 a hook that failed, 82 an uncaught error, 83 leadership lost. 137 is SIGKILL: a final line with this code means that the event loop was blocked.") }}
{{- end -}}
