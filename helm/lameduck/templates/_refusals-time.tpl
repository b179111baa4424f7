{{/* What is refused in the block that owns the time, and in the probes. */}}

{{- define "lameduck.refuseKinds" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- range $name, $kind := merge (include "lameduck.kinds" . | fromYaml) (include "lameduck.terms" . | fromYaml) -}}
{{- $value := get $l $name -}}
{{- if include "lameduck.isGiven" $value -}}
{{- with include "lameduck.allowed" (list $kind $value) | trim -}}
{{- include "lameduck.refuse" (list $problems (printf "lameduck.%s" $name) $value (printf "allowed is %s" .) "correct it, or leave it out for the default") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not (hasKey (include "lameduck.fronts" . | fromYaml) (toString $l.front)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.front" $l.front (printf "must be one of %s" (include "lameduck.fronts" . | fromYaml | keys | sortAlpha | join ", ")) "name the load balancer or proxy that sends requests to the pods") -}}
{{- end -}}
{{- if include "lameduck.isGiven" $l.terminationGracePeriodSeconds -}}
{{- include "lameduck.refuse" (list $problems "lameduck.terminationGracePeriodSeconds" $l.terminationGracePeriodSeconds (printf "it is computed: %s" (include "lameduck.sum" $)) "leave it out, and change the term that is wrong") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseElection" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}{{- $e := $v.leaderElection -}}
{{- range $name, $kind := merge (include "lameduck.electionKinds" . | fromYaml) (dict "leaseName" "Lease") -}}
{{- $value := get $e $name -}}
{{- if include "lameduck.isGiven" $value -}}
{{- with include "lameduck.allowed" (list $kind $value) | trim -}}
{{- include "lameduck.refuse" (list $problems (printf "leaderElection.%s" $name) $value (printf "allowed is %s" .) "correct it, or leave it out for the default") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $lease := include "lameduck.term" (list $e.leaseDuration "15s") | int64 -}}
{{- $renew := include "lameduck.term" (list $e.renewDeadline "10s") | int64 -}}
{{- $retry := include "lameduck.term" (list $e.retryPeriod "2s") | int64 -}}
{{- if le $lease $renew -}}
{{- include "lameduck.refuse" (list $problems "leaderElection.leaseDuration" (include "lameduck.duration" $lease) (printf "must be greater than leaderElection.renewDeadline (%s): the leader needs the difference to stop its work" (include "lameduck.duration" $renew)) "raise it, or lower the other") -}}
{{- end -}}
{{- if le (mul $renew 10) (mul $retry 12) -}}
{{- include "lameduck.refuse" (list $problems "leaderElection.renewDeadline" (include "lameduck.duration" $renew) (printf "must be greater than 1.2 times leaderElection.retryPeriod (%s)" (include "lameduck.duration" $retry)) "raise it, or lower the other") -}}
{{- end -}}
{{- if $e.enabled -}}
{{- if eq (include "lameduck.serviceAccountName" $) "default" -}}
{{- include "lameduck.refuse" (list $problems "serviceAccount.name" $v.serviceAccount.name "every pod without a ServiceAccount of its own has default, and would be allowed to take the Lease" "name another one, or set serviceAccount.create") -}}
{{- end -}}
{{- if and $v.networkPolicy.enabled (not $v.networkPolicy.egress) -}}
{{- include "lameduck.refuse" (list $problems "networkPolicy.egress" $v.networkPolicy.egress "must name the API server: without it, no pod ever leads" "add the addresses and the port of its endpoints") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseTimes" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- $b := include "lameduck.budget" $ | fromJson -}}
{{- $served := add (int64 $b.preStop) (int64 $b.delay) -}}
{{- $lag := include "lameduck.readinessLag" $ | int64 -}}
{{- if and (lt $served (int64 $b.least)) (not $l.allowShortDelay) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.shutdownDelayDuration" (include "lameduck.duration" $b.delay)
  (printf "with preStopSeconds it must be at least %s behind front %s, which goes on sending new connections for so long" (include "lameduck.duration" $b.least) $l.front)
  "raise it, leave it out, or set lameduck.allowShortDelay if connections may be refused") -}}
{{- else if and (gt $lag (int64 $b.delay)) (not $l.allowShortDelay) -}}
{{- include "lameduck.refuse" (list $problems "probes.readiness" (printf "periodSeconds %v, failureThreshold %v, timeoutSeconds %v" $.Values.probes.readiness.periodSeconds $.Values.probes.readiness.failureThreshold $.Values.probes.readiness.timeoutSeconds)
  (printf "periodSeconds x failureThreshold + timeoutSeconds (%s) must not exceed lameduck.shutdownDelayDuration (%s): a container that ends without its pod being deleted leaves its services only by this probe" (include "lameduck.duration" $lag) (include "lameduck.duration" $b.delay))
  "probe more often, or raise lameduck.shutdownDelayDuration") -}}
{{- end -}}
{{- if gt (int64 $b.grace) 2000000 -}}
{{- include "lameduck.refuse" (list $problems "lameduck" (printf "%ds" (int64 $b.grace)) (printf "a pod has at most 2000000 seconds: %s" (include "lameduck.sum" $)) "lower the longest of them") -}}
{{- end -}}
{{- if lt (int64 $b.margin) 5000 -}}
{{- include "lameduck.refuse" (list $problems "lameduck.marginDuration" $l.marginDuration "must be at least 5s: the process keeps 2s for its own end, and the kubelet counts from before the process signal" "raise it, or leave it out") -}}
{{- end -}}
{{- range $name := list "requestTimeout" "shutdownWatchTerminationGracePeriod" -}}
{{- $value := get $l $name -}}
{{- if gt (include "lameduck.term" (list $value "0") | int64) (int64 $b.longest) -}}
{{- include "lameduck.refuse" (list $problems (printf "lameduck.%s" $name) $value
  (printf "must not be longer than lameduck.longestRequestDuration (%s), which is what the drain waits for" (include "lameduck.duration" $b.longest))
  "lower it, or raise lameduck.longestRequestDuration") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseFront" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- $b := include "lameduck.budget" $ | fromJson -}}
{{- if and (le (int64 $b.keepAlive) (int64 $b.idle)) (gt (int64 $b.idle) 0) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.keepAliveTimeout" (include "lameduck.duration" $b.keepAlive)
  (printf "must be longer than front %s keeps a connection without a request (%s), or it sends a request into a connection that the server has just closed" $l.front (include "lameduck.duration" $b.idle))
  "raise it, or say in lameduck.frontIdleTimeout what the front is configured with") -}}
{{- end -}}
{{- if and (eq $l.front "aws") $.Values.ingress.enabled (or (lt (int64 $b.idle) 1000) (gt (int64 $b.idle) 4000000)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.frontIdleTimeout" $l.frontIdleTimeout "must be from 1s to 4000s: the controller cannot set up an ALB with it" "correct it, or leave it out for 60s") -}}
{{- end -}}
{{- $drains := or (has $l.front (list "aws" "gce")) (eq (include "lameduck.isGiven" $l.frontDrainDuration) "yes") -}}
{{- if and $drains (or (lt (int64 $b.frontDrain) (int64 $b.longest)) (gt (int64 $b.frontDrain) 3600000)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.frontDrainDuration" (include "lameduck.duration" $b.frontDrain)
  (printf "must be from lameduck.longestRequestDuration (%s) to 3600s, or the load balancer cuts requests that the pod still answers" (include "lameduck.duration" $b.longest))
  "leave it out, and it is computed; a load balancer waits for no request beyond an hour") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseProbes" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- $probes := $.Values.probes -}}
{{- range $name := list "readiness" "liveness" "startup" -}}
{{- $probe := get $probes $name -}}
{{- range $field := list "periodSeconds" "timeoutSeconds" "failureThreshold" -}}
{{- if lt (int64 (get $probe $field)) 1 -}}
{{- include "lameduck.refuse" (list $problems (printf "probes.%s.%s" $name $field) (get $probe $field) "must be a whole number of at least 1" "raise it") -}}
{{- end -}}
{{- end -}}
{{- if gt (int64 $probe.timeoutSeconds) (int64 $probe.periodSeconds) -}}
{{- include "lameduck.refuse" (list $problems (printf "probes.%s.timeoutSeconds" $name) $probe.timeoutSeconds (printf "must not exceed periodSeconds (%d)" (int64 $probe.periodSeconds)) "lower it, or raise periodSeconds") -}}
{{- end -}}
{{- end -}}
{{- if or (eq $probes.liveness.path $probes.readiness.path) (regexMatch "(?i)^/readyz([/?]|$)" $probes.liveness.path) -}}
{{- include "lameduck.refuse" (list $problems "probes.liveness.path" $probes.liveness.path "must not be the path of the readiness probe: a server that drains is not ready, and must not be restarted for it" "use /livez") -}}
{{- end -}}
{{- $probePaths := include "lameduck.settingText" (list "on or off" $l.probePaths) -}}
{{- if and (eq $probePaths "off") (not (include "lameduck.probePort" $)) (regexMatch "(?i)^/readyz([/?]|$)" $probes.readiness.path) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probePaths" "off" "without a probePort the port of the service answers the probes, and the pod would never be ready" "set lameduck.probePort, or leave it out") -}}
{{- end -}}
{{- if include "lameduck.probePort" $ -}}
{{- range $name := list "readiness" "liveness" "startup" -}}
{{- $path := (get $probes $name).path -}}
{{- if not (regexMatch "(?i)^/(readyz|livez|healthz)([/?]|$)" $path) -}}
{{- include "lameduck.refuse" (list $problems (printf "probes.%s.path" $name) $path "is not answered on lameduck.probePort, which knows /readyz, /livez and /healthz, so that the pod would never be ready" "use one of them, or set lameduck.probePort to off, and the port of the service is asked") -}}
{{- else if and (eq $name "readiness") (or (not (regexMatch "(?i)^/readyz/?([?]|$)" $path)) (regexMatch "[?&]exclude=shutdown(&|$)" $path)) -}}
{{- include "lameduck.refuse" (list $problems "probes.readiness.path" $path "must be /readyz: everything else, also one of its checks alone, stays green while the process drains, and a pod that is not deleted would stay in its services" "use /readyz") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $readyz := include "lameduck.term" (list $l.readyzEventLoopStallLimit "5s") | int64 -}}
{{- $livez := include "lameduck.term" (list $l.livezEventLoopStallLimit "30s") | int64 -}}
{{- if include "lameduck.probePort" $ -}}
{{- if and (gt $livez 0) (or (ge $readyz $livez) (eq $readyz 0)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.livezEventLoopStallLimit" (include "lameduck.duration" $livez) (printf "must be longer than lameduck.readyzEventLoopStallLimit (%s): a blocked process has to leave its services before it is restarted" (include "lameduck.duration" $readyz)) "raise it, or lower the other") -}}
{{- end -}}
{{- else if lt (mul (int64 $probes.liveness.periodSeconds) (int64 $probes.liveness.failureThreshold) 1000) $livez -}}
{{- include "lameduck.refuse" (list $problems "probes.liveness" (printf "periodSeconds %v, failureThreshold %v" $probes.liveness.periodSeconds $probes.liveness.failureThreshold) (printf "without a probePort periodSeconds x failureThreshold must be at least lameduck.livezEventLoopStallLimit (%s), or a busy process is restarted" (include "lameduck.duration" $livez)) "raise one of them, or set lameduck.probePort") -}}
{{- end -}}
{{- if regexMatch "^(127[.].*|::1)$" (toString $l.probeHost) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probeHost" $l.probeHost "the kubelet asks at the address of the pod, which this does not listen on" "leave it out") -}}
{{- end -}}
{{- end -}}
