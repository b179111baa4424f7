{{/* What loses nothing by itself, but is worth a second look: a list as YAML, for the notes. */}}
{{- define "lameduck.warnings" -}}
{{- $v := .Values -}}
{{- if $v.lameduck.allowShortDelay }}
- "lameduck.allowShortDelay is set: new connections may be refused while the cluster learns that a pod leaves."
{{- end }}
{{- if eq (include "lameduck.leastReplicas" . | int64) 1 }}
- "There is a single pod: whatever ends it is an outage."
{{- end }}
{{- if not (dig "limits" "memory" "" (default dict $v.resources)) }}
- "resources.limits.memory is not set: a leak takes the node's other pods along."
{{- end }}
{{- if dig "limits" "cpu" "" (default dict $v.resources) }}
- "resources.limits.cpu is set: a throttled event loop answers probes late."
{{- end }}
{{- if and $v.ingress.enabled (eq $v.ingress.className "nginx") }}
- "ingress.className nginx: that controller is retired; httpRoute is the way on."
{{- end }}
{{- if and (eq $v.lameduck.front "aws") (not $v.readinessGates) }}
- "Label the namespace elbv2.k8s.aws/pod-readiness-gate-inject=enabled, so that a rollout waits until the load balancer knows the new pods."
{{- end }}
{{- with include "lameduck.term" (list $v.lameduck.healthCheckTimeout "900ms") | int64 }}
{{- if ge . (mul (int64 $v.probes.readiness.timeoutSeconds) 1000) }}
- "lameduck.healthCheckTimeout is not below probes.readiness.timeoutSeconds: the probe gives up first, and nobody learns which check it was."
{{- end }}
{{- end }}
{{- $resources := default dict $v.resources }}
{{- if and $v.autoscaling.enabled (not $v.autoscaling.metrics) (not (dig "requests" "cpu" "" $resources)) (not (dig "limits" "cpu" "" $resources)) }}
- "autoscaling is on and resources.requests.cpu is not set: nothing is scaled by CPU without it."
{{- end }}
{{- if and (not $v.podMonitor.enabled) (not $v.serviceMonitor.enabled) $v.prometheusRule.enabled }}
- "prometheusRule is on and no monitor is: its alerts need something that scrapes the pods."
{{- end }}
{{- end -}}
