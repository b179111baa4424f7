{{/* Rejects invalid settings, and durations that are too short to answer all requests. */}}

{{- define "lameduck.refuseKinds" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- range $name, $kind := merge (include "lameduck.kinds" . | fromYaml) (include "lameduck.terms" . | fromYaml) -}}
{{- $value := get $l $name -}}
{{- if include "lameduck.isGiven" $value -}}
{{- with include "lameduck.allowed" (list $kind $value) | trim -}}
{{- include "lameduck.refuse" (list $problems (printf "lameduck.%s" $name) $value (printf "must be %s" .) "correct it, or leave it out for the default") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not (hasKey (include "lameduck.fronts" . | fromYaml) (toString $l.front)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.front" $l.front (printf "must be one of %s" (include "lameduck.fronts" . | fromYaml | keys | sortAlpha | join ", ")) "name the load balancer or proxy that sends requests to the pods") -}}
{{- end -}}
{{- if include "lameduck.isGiven" $l.terminationGracePeriodSeconds -}}
{{- include "lameduck.refuse" (list $problems "lameduck.terminationGracePeriodSeconds" $l.terminationGracePeriodSeconds (printf "the chart computes it: %s" (include "lameduck.sum" $)) "leave it out, and change the part of the sum that is wrong") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseTimes" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- $b := include "lameduck.times" $ | fromJson -}}
{{- $served := add (int64 $b.preStop) (int64 $b.delay) -}}
{{- $lag := include "lameduck.readinessLag" $ | int64 -}}
{{- if and (lt $served (int64 $b.least)) (not $l.allowShortDelay) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.shutdownDelayDuration" (include "lameduck.duration" $b.delay)
  (printf "together with preStopSeconds, it must be at least %s, because with front %s, new connections may arrive for this time after the deletion of the pod" (include "lameduck.duration" $b.least) $l.front)
  "raise it, leave it out, or set lameduck.allowShortDelay if connections may be refused") -}}
{{- else if and (gt $lag (int64 $b.delay)) (not $l.allowShortDelay) -}}
{{- include "lameduck.refuse" (list $problems "probes.readiness" (printf "periodSeconds %v, failureThreshold %v, timeoutSeconds %v" $.Values.probes.readiness.periodSeconds $.Values.probes.readiness.failureThreshold $.Values.probes.readiness.timeoutSeconds)
  (printf "periodSeconds x failureThreshold + timeoutSeconds (%s) must not exceed lameduck.shutdownDelayDuration (%s): if a container ends without a deletion of its pod, only this probe removes the pod from its Services" (include "lameduck.duration" $lag) (include "lameduck.duration" $b.delay))
  "probe more often, or raise lameduck.shutdownDelayDuration") -}}
{{- end -}}
{{- if gt (int64 $b.grace) 2000000 -}}
{{- include "lameduck.refuse" (list $problems "lameduck" (printf "%ds" (int64 $b.grace)) (printf "the grace period must be at most 2000000 seconds: %s" (include "lameduck.sum" $)) "lower the longest part") -}}
{{- end -}}
{{- if and (gt (int64 $b.grace) 600) (le (int64 $b.grace) 2000000) (not $l.allowLongGracePeriod) -}}
{{- include "lameduck.refuse" (list $problems "lameduck" (printf "%ds" (int64 $b.grace)) (printf "the cluster autoscaler kills a pod after 600 seconds: %s" (include "lameduck.sum" $)) "lower the longest part, or set lameduck.allowLongGracePeriod") -}}
{{- end -}}
{{- if not (or (contains "SIGTERM" (default "SIGTERM" $l.shutdownSignals | toString)) $l.allowOtherStopSignal) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.shutdownSignals" $l.shutdownSignals "must contain SIGTERM, which the kubelet sends to end a container" "add it, or set lameduck.allowOtherStopSignal if the image has another STOPSIGNAL") -}}
{{- end -}}
{{- if lt (int64 $b.margin) 5000 -}}
{{- include "lameduck.refuse" (list $problems "lameduck.marginDuration" $l.marginDuration "must be at least 5s: the process keeps 2s for its own exit, and the grace period begins before the process signal" "raise it, or leave it out") -}}
{{- end -}}
{{- range $name := list "requestTimeout" "shutdownWatchTerminationGracePeriod" -}}
{{- $value := get $l $name -}}
{{- if gt (include "lameduck.term" (list $value "0") | int64) (int64 $b.longest) -}}
{{- include "lameduck.refuse" (list $problems (printf "lameduck.%s" $name) $value
  (printf "must not be longer than lameduck.longestRequestDuration (%s), because the drain does not wait longer" (include "lameduck.duration" $b.longest))
  "lower it, or raise lameduck.longestRequestDuration") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseFront" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- $b := include "lameduck.times" $ | fromJson -}}
{{- if and (eq $l.front "gateway") (not (include "lameduck.isGiven" $l.frontIdleTimeout)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.frontIdleTimeout" $l.frontIdleTimeout "must be set to the time for which your proxy keeps an idle connection to a pod, because front gateway can be any proxy" "look it up in the proxy's configuration, or name the proxy in lameduck.front") -}}
{{- end -}}
{{- if and (le (int64 $b.keepAlive) (int64 $b.idle)) (gt (int64 $b.idle) 0) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.keepAliveTimeout" (include "lameduck.duration" $b.keepAlive)
  (printf "must be longer than the idle timeout of front %s (%s): otherwise, the load balancer or proxy could send a request on a connection that the server closes" $l.front (include "lameduck.duration" $b.idle))
  "raise it, or set lameduck.frontIdleTimeout to the idle timeout of your load balancer or proxy") -}}
{{- end -}}
{{- $drains := or (has $l.front (list "aws" "azure" "gce")) (eq (include "lameduck.isGiven" $l.frontDrainDuration) "yes") -}}
{{- if and $drains (or (lt (int64 $b.frontDrain) (int64 $b.longest)) (gt (int64 $b.frontDrain) 3600000)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.frontDrainDuration" (include "lameduck.duration" $b.frontDrain)
  (printf "must be from lameduck.longestRequestDuration (%s) to 3600s, or the load balancer cuts requests that the pod still answers" (include "lameduck.duration" $b.longest))
  (ternary "leave it out, so that the chart computes it" "lower lameduck.longestRequestDuration: no load balancer waits longer than an hour" (and (eq (include "lameduck.isGiven" $l.frontDrainDuration) "yes") (le (int64 $b.longest) 3600000)))) -}}
{{- end -}}
{{- end -}}
