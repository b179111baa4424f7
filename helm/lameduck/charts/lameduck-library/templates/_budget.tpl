{{/* Computes all durations that the chart writes into the pod, its environment variables, the objects of load balancers
and the notes. */}}

{{/* Five durations for each load balancer and proxy. `delay` is the default shutdown delay, and `least` is the shortest
delay that the chart accepts. `idle` is the idle timeout of the load balancer or proxy. For `gateway`, it is unknown, so
the user must set it in the chart values. `keepAlive` is the server's keepAliveTimeout. `longest` is the default of
longestRequestDuration: 30s, or the load balancer's default timeout for a response if this is longer.
docs/load-balancers.md links to a page with the source of each timeout. */}}
{{- define "lameduck.fronts" -}}
none: { delay: 10s, least: 5s, idle: 0s, keepAlive: 65s, longest: 30s }
gateway: { delay: 15s, least: 5s, idle: 0s, keepAlive: 65s, longest: 30s }
envoy: { delay: 15s, least: 5s, idle: 3600s, keepAlive: 3610s, longest: 30s }
istio: { delay: 15s, least: 5s, idle: 3600s, keepAlive: 3610s, longest: 30s }
linkerd: { delay: 15s, least: 5s, idle: 3s, keepAlive: 65s, longest: 30s }
nginx: { delay: 15s, least: 5s, idle: 60s, keepAlive: 65s, longest: 60s }
traefik: { delay: 15s, least: 5s, idle: 90s, keepAlive: 95s, longest: 30s }
haproxy: { delay: 15s, least: 5s, idle: 60s, keepAlive: 65s, longest: 50s }
azure: { delay: 90s, least: 60s, idle: 240s, keepAlive: 250s, longest: 30s }
aws: { delay: 30s, least: 15s, idle: 60s, keepAlive: 65s, longest: 60s }
gce: { delay: 45s, least: 40s, idle: 600s, keepAlive: 620s, longest: 30s }
{{- end -}}

{{- define "lameduck.front" -}}
{{- $fronts := include "lameduck.fronts" . | fromYaml -}}
{{- get $fronts (toString .Values.lameduck.front) | default $fronts.none | toJson -}}
{{- end -}}

{{/* Returns `yes` if the given chart value is set, and nothing otherwise. null and the empty string count as not set; 0
and false count as set. */}}
{{- define "lameduck.isGiven" -}}
{{- if not (or (kindIs "invalid" .) (and (kindIs "string" .) (eq . ""))) -}}yes{{- end -}}
{{- end -}}

{{/* Returns one duration in milliseconds. Arguments: (list given default). If `given` is invalid, returns the default,
so that the chart reports an invalid duration only once. Another template reports it. */}}
{{- define "lameduck.term" -}}
{{- $given := include "lameduck.text" (index . 0) -}}
{{- include "lameduck.milliseconds" $given | default (include "lameduck.milliseconds" (index . 1)) -}}
{{- end -}}

{{/* Returns, as JSON, each duration in the sum of the grace period, and the sum, in milliseconds. `grace` is the grace
period in seconds. */}}
{{- define "lameduck.times" -}}
{{- $l := .Values.lameduck -}}
{{- $front := include "lameduck.front" . | fromJson -}}
{{- $preStop := include "lameduck.term" (list (printf "%ss" (include "lameduck.text" $l.preStopSeconds)) "0s") | int64 -}}
{{- $delay := include "lameduck.term" (list $l.shutdownDelayDuration $front.delay) | int64 -}}
{{- $hooks := include "lameduck.term" (list $l.preShutdownHookTimeout "5s") | int64 -}}
{{- $election := .Values.leaderElection -}}
{{- $stop := ternary (include "lameduck.term" (list $election.stopTimeout "5s") | int64) 0 $election.enabled -}}
{{- $longest := include "lameduck.term" (list $l.longestRequestDuration $front.longest) | int64 -}}
{{- $destroy := include "lameduck.term" (list $l.destroyHookTimeout "3s") | int64 -}}
{{- $margin := include "lameduck.term" (list $l.marginDuration "5s") | int64 -}}
{{- $lead := max $delay $hooks $stop -}}
{{- $sum := add $preStop $lead $longest $destroy $margin -}}
{{- $halfDelay := div (add $preStop $delay) 2 -}}
{{- $drain := include "lameduck.term" (list $l.frontDrainDuration (printf "%dms" (min (add $longest $halfDelay) 3600000))) | int64 -}}
{{- $idle := include "lameduck.term" (list $l.frontIdleTimeout $front.idle) | int64 -}}
{{- $keepAlive := max (include "lameduck.milliseconds" $front.keepAlive | int64) (ternary (add $idle 5000) 0 (gt $idle 0)) -}}
{{- dict
  "preStop" $preStop
  "delay" $delay
  "hooks" $hooks
  "stop" $stop
  "lead" $lead
  "longest" $longest
  "destroy" $destroy
  "margin" $margin
  "sum" $sum
  "grace" (div (add $sum 999) 1000)
  "least" (include "lameduck.milliseconds" $front.least | int64)
  "idle" $idle
  "keepAlive" (include "lameduck.term" (list $l.keepAliveTimeout (printf "%dms" $keepAlive)) | int64)
  "frontDrain" $drain
  "frontDrainSeconds" (div (add $drain 999) 1000)
  | toJson -}}
{{- end -}}

{{/* Returns the grace period as text, as the sum of the durations in it: `preStopSeconds 0s + max(…) + … = 48s`.
NOTES.txt and the chart's error messages contain this text. */}}
{{- define "lameduck.sum" -}}
{{- $b := include "lameduck.times" . | fromJson -}}
{{- $stop := "" -}}
{{- if .Values.leaderElection.enabled -}}{{- $stop = printf ", leaderElection.stopTimeout %s" (include "lameduck.duration" $b.stop) -}}{{- end -}}
{{- printf "preStopSeconds %s + max(shutdownDelayDuration %s, preShutdownHookTimeout %s%s) + longestRequestDuration %s + destroyHookTimeout %s + marginDuration %s = %ds"
  (include "lameduck.duration" $b.preStop) (include "lameduck.duration" $b.delay) (include "lameduck.duration" $b.hooks) $stop
  (include "lameduck.duration" $b.longest) (include "lameduck.duration" $b.destroy) (include "lameduck.duration" $b.margin)
  (int64 $b.grace) -}}
{{- end -}}

{{/* Returns the milliseconds that the kubelet needs to detect, by failing readiness probes, that a container is no
longer ready. */}}
{{- define "lameduck.readinessLag" -}}
{{- $p := .Values.probes.readiness -}}
{{- with .Values.readinessProbe -}}{{- $p = merge dict . (dict "periodSeconds" 10 "failureThreshold" 3 "timeoutSeconds" 1) -}}{{- end -}}
{{- mul (add (mul (int64 $p.periodSeconds) (int64 $p.failureThreshold)) (int64 $p.timeoutSeconds)) 1000 -}}
{{- end -}}
