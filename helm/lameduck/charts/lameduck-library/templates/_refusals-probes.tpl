{{/* Rejects probes that would fail too late, and probes that no process would answer. */}}

{{- define "lameduck.refuseProbes" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $l := $.Values.lameduck -}}
{{- $probes := $.Values.probes -}}
{{- if include "lameduck.isOn" $ -}}
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
{{- include "lameduck.refuse" (list $problems "probes.liveness.path" $probes.liveness.path "must not be the path of the readiness probe: a draining server is not ready, and the kubelet would restart it" "use /livez") -}}
{{- end -}}
{{- $probePaths := include "lameduck.settingText" (list "on or off" $l.probePaths) -}}
{{- if and (eq $probePaths "off") (not (include "lameduck.probePort" $)) (regexMatch "(?i)^/readyz([/?]|$)" $probes.readiness.path) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probePaths" "off" "must not be off without a lameduck.probePort: no port would answer the probes, and the pod would never be ready" "set lameduck.probePort, or leave lameduck.probePaths out") -}}
{{- end -}}
{{- if include "lameduck.probePort" $ -}}
{{- range $name := list "readiness" "liveness" "startup" -}}
{{- $path := (get $probes $name).path -}}
{{- if not (regexMatch "(?i)^/(readyz|livez|healthz)([/?]|$)" $path) -}}
{{- include "lameduck.refuse" (list $problems (printf "probes.%s.path" $name) $path "is not answered on lameduck.probePort, which answers only /readyz, /livez and /healthz, so the probe would always fail" "use one of these paths, or set lameduck.probePort to off to probe the port of the service") -}}
{{- else if and (eq $name "readiness") (or (not (regexMatch "(?i)^/readyz/?([?]|$)" $path)) (regexMatch "[?&]exclude=shutdown(&|$)" $path)) -}}
{{- include "lameduck.refuse" (list $problems "probes.readiness.path" $path "must be /readyz: every other path, including a single check, passes while the process drains, so a pod that is not deleted would stay in its Services" "use /readyz") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $readyz := include "lameduck.term" (list $l.readyzEventLoopStallLimit "5s") | int64 -}}
{{- $livez := include "lameduck.term" (list $l.livezEventLoopStallLimit "30s") | int64 -}}
{{- if include "lameduck.probePort" $ -}}
{{- if and (gt $livez 0) (or (ge $readyz $livez) (eq $readyz 0)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.livezEventLoopStallLimit" (include "lameduck.duration" $livez) (printf "must be longer than lameduck.readyzEventLoopStallLimit (%s): a pod with a blocked process must be removed from its Services before it is restarted" (include "lameduck.duration" $readyz)) "raise it, or lower lameduck.readyzEventLoopStallLimit") -}}
{{- end -}}
{{- else if lt (mul (int64 $probes.liveness.periodSeconds) (int64 $probes.liveness.failureThreshold) 1000) $livez -}}
{{- include "lameduck.refuse" (list $problems "probes.liveness" (printf "periodSeconds %v, failureThreshold %v" $probes.liveness.periodSeconds $probes.liveness.failureThreshold) (printf "without a probePort periodSeconds x failureThreshold must be at least lameduck.livezEventLoopStallLimit (%s), or a busy process is restarted" (include "lameduck.duration" $livez)) "raise one of them, or set lameduck.probePort") -}}
{{- end -}}
{{- if regexMatch "^(127[.].*|::1)$" (toString $l.probeHost) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probeHost" $l.probeHost "the kubelet probes the address of the pod, and cannot reach a loopback address" "leave it out") -}}
{{- end -}}
{{- end -}}
{{- end -}}
