{{/* Returns the alerts that Prometheus computes from metrics. Arguments: (list $ scope). The alerts about shutdowns use
metrics of the npm package. The alerts about restarts and rollouts use metrics of kube-state-metrics, because a process
cannot measure its own restarts and rollouts. */}}

{{- define "lameduck.shutdownAlerts" -}}
{{- $ := index . 0 -}}{{- $scope := index . 1 -}}
{{- $pods := include "lameduck.podsIn" . -}}
{{- $by := "by (release, namespace, workload, pod)" -}}
{{- include "lameduck.alert" (list $ $scope "LameduckShutdownWouldCutRequests"
  (printf "max %s (lameduck_shutdown_overrun_predicted{%s}) == 1" $by $pods)
  "{{ $labels.pod }} could not drain within its shutdown budget if it received SIGTERM now."
  "A rollout would cut requests. Raise lameduck.longestRequestDuration, or find the slow route.") }}
{{- /* Prometheus may scrape a pod only once or twice during its drain. The subquery of LameduckShutdownRunsOutOfTime
returns the values of the last five minutes, even after the pod has been deleted. */ -}}
{{- include "lameduck.alert" (list $ $scope "LameduckShutdownRunsOutOfTime"
  (printf "min %s (min_over_time((lameduck_shutdown_remaining_seconds{%s} and lameduck_shutdown_overrun_predicted{%s} == 1)[5m:5s])) < %s" $by $pods $pods (include "lameduck.threshold" (list $ "LameduckShutdownRunsOutOfTime")))
  "{{ $labels.pod }} is shutting down and will cut requests: {{ $value | humanizeDuration }} of the shutdown budget were left at the last scrape."
  "The drain is not expected to end within the shutdown budget. The final line of the log names the requests that were cut.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckRequestsCut"
  (printf "max %s (max_over_time(lameduck_shutdown_requests_total{outcome=\"cut\",%s}[15m])) > %s" $by $pods (include "lameduck.threshold" (list $ "LameduckRequestsCut")))
  "{{ $labels.pod }} cut {{ $value }} requests during its shutdown."
  "The drain's time limit had passed, or clients had not acknowledged their responses. The final line of the log names the requests and clients.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckHookFails"
  (printf "%s > %s" (include "lameduck.risen" (list "lameduck_hook_failures_total" $pods ", kind")) (include "lameduck.threshold" (list $ "LameduckHookFails")))
  "A {{ $labels.kind }} hook of {{ $labels.pod }} has failed."
  "The log line `hook failed` has the error of the hook.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckEventLoopBlocked"
  (printf "%s > %s" (include "lameduck.risen" (list "lameduck_event_loop_stalls_total" $pods "")) (include "lameduck.threshold" (list $ "LameduckEventLoopBlocked")))
  "The event loop of {{ $labels.pod }} was blocked for longer than readyzEventLoopStallLimit."
  "While the event loop is blocked, only the probe port responds.") }}
{{- /* With the scope `release`, the alert LameduckIsNotScraped fires if no pod is scraped. With the scope `cluster`, it
fires for a workload that was scraped in the last hour, still has replicas and is no longer scraped. If
`lameduck.enabled` is false, the scope `release` has no alert LameduckIsNotScraped, because the pods of the Helm release
have no metrics. */ -}}
{{- $absent := printf "absent(lameduck_build_info{%s})" $pods -}}
{{- if eq $scope "cluster" -}}
{{- $absent = "(max by (release, namespace, workload) (max_over_time(lameduck_build_info{workload!=\"\"}[1h])) unless max by (release, namespace, workload) (lameduck_build_info)) and on (namespace, workload) label_replace(kube_deployment_status_replicas > 0, \"workload\", \"$1\", \"deployment\", \"(.+)\")" -}}
{{- end -}}
{{- if or (eq $scope "cluster") (include "lameduck.isOn" $) -}}
{{- include "lameduck.alert" (list $ $scope "LameduckIsNotScraped" $absent
  "Prometheus scrapes no pod of this release."
  "No Prometheus selects the PodMonitor or ServiceMonitor of the release, or the probe port is unreachable.") }}
{{- end -}}
{{- end -}}

{{/* Returns the alerts that use metrics of kube-state-metrics. The alerts about restarts count the restarts of each
container name separately. */}}
{{- define "lameduck.workloadAlerts" -}}
{{- $ := index . 0 -}}{{- $scope := index . 1 -}}
{{- $pods := include "lameduck.podsIn" . -}}
{{- $container := ternary $pods (printf "container=\"server\",%s" $pods) (eq $scope "cluster") -}}
{{- $exited := "max by (namespace, pod, container) (kube_pod_container_status_last_terminated_exitcode{%s} == %d) and on (namespace, pod, container) floor(increase(kube_pod_container_status_restarts_total{%s}[15m])) > %s" -}}
{{- include "lameduck.alert" (list $ $scope "LameduckContainerKilled"
  (include "lameduck.ofScrapedPods" (list $scope (printf $exited $container 137 $container (include "lameduck.threshold" (list $ "LameduckContainerKilled"))) "namespace, pod, container"))
  "{{ $labels.pod }} was killed by SIGKILL and restarted (exit code 137)."
  "The container was out of memory, or it did not exit within its grace period. Its requests in flight are lost.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckLeadershipLost"
  (include "lameduck.ofScrapedPods" (list $scope (printf $exited $container 83 $container (include "lameduck.threshold" (list $ "LameduckLeadershipLost"))) "namespace, pod, container"))
  "{{ $labels.pod }} lost its Lease while its work was running, and restarted (exit code 83)."
  "The process could not renew the Lease in time: the API server was unreachable, or the event loop was blocked.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckContainerRestarts"
  (include "lameduck.ofScrapedPods" (list $scope (printf "max by (namespace, pod, container) (floor(increase(kube_pod_container_status_restarts_total{%s}[1h]))) > %s" $container (include "lameduck.threshold" (list $ "LameduckContainerRestarts"))) "namespace, pod, container"))
  "{{ $labels.pod }} has restarted {{ printf \"%.0f\" $value }} times in an hour."
  "kubectl describe pod shows the exit code of the container and the end of its log. Exit codes: 80 requests were cut, 81 a hook failed, 82 an uncaught error, 83 leadership lost, 137 SIGKILL.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckReadinessFlaps"
  (include "lameduck.ofScrapedPods" (list $scope (printf "max by (namespace, pod) (changes(kube_pod_status_ready{condition=\"true\",%s}[15m])) > %s" $pods (include "lameduck.threshold" (list $ "LameduckReadinessFlaps"))) "namespace, pod"))
  "{{ $labels.pod }} alternates between ready and not ready."
  "If the check that fails depends on something that all replicas share, all pods leave the Service at once.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckRolloutIsStuck"
  (include "lameduck.ofScrapedWorkloads" (list $scope (printf "kube_deployment_status_condition{condition=\"Progressing\",status=\"false\",%s} == 1" (include "lameduck.objectIn" (list $ $scope "deployment"))) "deployment"))
  "The rollout of the Deployment {{ $labels.deployment }} makes no progress."
  "The new pods do not become ready. The old pods still serve requests.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckNodesCannotBeDrained"
  (include "lameduck.ofScrapedWorkloads" (list $scope (printf "kube_poddisruptionbudget_status_pod_disruptions_allowed{%s} == 0" (include "lameduck.objectIn" (list $ $scope "poddisruptionbudget"))) "poddisruptionbudget"))
  "The PodDisruptionBudget {{ $labels.poddisruptionbudget }} allows no eviction."
  "Some pods are not ready, so the nodes of the pods cannot be drained.") }}
{{- include "lameduck.alert" (list $ $scope "LameduckAtMaximumReplicas"
  (include "lameduck.ofScrapedWorkloads" (list $scope (printf "(kube_horizontalpodautoscaler_status_current_replicas{%s} >= on (namespace, horizontalpodautoscaler) kube_horizontalpodautoscaler_spec_max_replicas)" (include "lameduck.objectIn" (list $ $scope "horizontalpodautoscaler"))) "horizontalpodautoscaler"))
  "The HorizontalPodAutoscaler {{ $labels.horizontalpodautoscaler }} has reached its maximum number of replicas."
  "Raise autoscaling.maxReplicas, or find the cause of the load.") }}
{{- end -}}
