{{/* The warnings in the notes that Helm prints after an installation or upgrade, as a YAML list. Each warning is about
a risky chart value that does not lose requests by itself. */}}
{{- define "lameduck.warnings" -}}
{{- $v := .Values -}}
{{- if $v.lameduck.allowShortDelay }}
- "lameduck.allowShortDelay is set: new connections may be refused until the cluster has removed an ending pod from its Services."
{{- end }}
{{- if eq (include "lameduck.leastReplicas" . | int64) 1 }}
- "There is a single pod: every end of this pod is an outage."
{{- end }}
{{- if not (dig "limits" "memory" "" (default dict $v.resources)) }}
- "resources.limits.memory is not set: a memory leak can also end other pods on the node."
{{- end }}
{{- if dig "limits" "cpu" "" (default dict $v.resources) }}
- "resources.limits.cpu is set: an event loop that this limit throttles answers probes late."
{{- end }}
{{- if and $v.ingress.enabled (eq $v.ingress.className "nginx") }}
- "ingress.className is nginx: this controller is retired; use httpRoute instead."
{{- end }}
{{- if and (eq $v.lameduck.front "aws") (not $v.readinessGates) }}
- "Label the namespace elbv2.k8s.aws/pod-readiness-gate-inject=enabled, so that a rollout waits until the load balancer sends requests to the new pods."
{{- end }}
{{- with include "lameduck.term" (list $v.lameduck.healthCheckTimeout "900ms") | int64 }}
{{- if ge . (mul (int64 $v.probes.readiness.timeoutSeconds) 1000) }}
- "lameduck.healthCheckTimeout is not below probes.readiness.timeoutSeconds: the probe times out first, and no answer names the check that is slow."
{{- end }}
{{- end }}
{{- $resources := default dict $v.resources }}
{{- if and $v.autoscaling.enabled (not $v.autoscaling.metrics) (not (dig "requests" "cpu" "" $resources)) (not (dig "limits" "cpu" "" $resources)) }}
- "autoscaling is enabled and resources.requests.cpu is not set: the autoscaler cannot scale by CPU."
{{- end }}
{{- $b := include "lameduck.times" . | fromJson }}
{{- $drain := add (int64 $b.delay) (int64 $b.longest) }}
{{- range $name := list "podMonitor" "serviceMonitor" }}
{{- $monitor := get $v $name }}
{{- if and $monitor.enabled (gt (include "lameduck.milliseconds" $monitor.interval | int64) $drain) }}
- "{{ $name }}.interval is {{ $monitor.interval }}: Prometheus may not scrape a pod during its drain, which takes at most {{ include "lameduck.duration" $drain }}."
{{- end }}
{{- end }}
{{- if and (not $v.podMonitor.enabled) (not $v.serviceMonitor.enabled) $v.prometheusRule.enabled }}
- "prometheusRule is enabled, but neither podMonitor nor serviceMonitor is: nothing scrapes the metrics for the alerts."
{{- end }}
{{- end -}}
