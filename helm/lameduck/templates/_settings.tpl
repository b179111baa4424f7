{{/* The package's settings as the chart passes them: which there are, of what kind, and the container's environment. */}}

{{/* Each setting of the package and its kind. The pod's grace period is one as well, but it is computed. */}}
{{- define "lameduck.kinds" -}}
shutdownDelayDuration: duration
shutdownSendRetryAfter: boolean
shutdownWatchTerminationGracePeriod: duration
eventStreamRetry: duration
eventStreams: reconnecting or all or none
longRunningPaths: path prefixes
preShutdownHookTimeout: limit
destroyHookTimeout: limit
preStopSeconds: seconds
shutdownSignals: process signals
ownSignalListeners: hold or run
healthCheckTimeout: limit
livezGracePeriod: duration
probePort: port
probeHost: host
readinessPaths: paths
probePaths: on or off
readyzEventLoopStallLimit: stall limit
livezEventLoopStallLimit: stall limit
metricsPath: path
requestDurationBuckets: durations
maxMetricSeries: count
httpMetrics: on or off
keepAliveTimeout: limit
requestTimeout: duration
maxRequestsInflight: count
goawayChance: chance
auditLogPath: log file
terminationMessagePath: file
checkpointPath: file
debugSocketPath: file
debugSocketStack: boolean
{{- end -}}

{{/* The values of the block that are no settings of the package, but terms of the arithmetic. */}}
{{- define "lameduck.terms" -}}
longestRequestDuration: limit
marginDuration: limit
frontIdleTimeout: duration
frontDrainDuration: duration
{{- end -}}

{{/* Each setting of an elector and its kind. `leaseName` is none: the program gets it as LEASE_NAME. */}}
{{- define "lameduck.electionKinds" -}}
leaseNamespace: namespace
leaseDuration: whole seconds
renewDeadline: period
retryPeriod: period
stopTimeout: limit
{{- end -}}

{{- define "lameduck.leaseName" -}}
{{- default (include "lameduck.fullname" .) .Values.leaderElection.leaseName -}}
{{- end -}}

{{- define "lameduck.leaseNamespace" -}}
{{- default .Release.Namespace .Values.leaderElection.leaseNamespace -}}
{{- end -}}

{{- define "lameduck.variable" -}}
LAMEDUCK_{{ regexReplaceAll "[A-Z]" . "_${0}" | upper }}
{{- end -}}

{{/* A value as the package reads it: numbers without exponent, which Helm would print for a million or a millionth. */}}
{{- define "lameduck.text" -}}
{{- if or (kindIs "float64" .) (kindIs "int64" .) (kindIs "int" .) -}}
{{- if and (eq (floor .) (float64 .)) (lt (float64 .) 9e15) -}}
{{- int64 . -}}
{{- else -}}
{{- $text := toString . -}}
{{- ternary (regexReplaceAll "[.]?0+$" (printf "%.15f" (float64 .)) "") $text (contains "e" $text) -}}
{{- end -}}
{{- else if not (kindIs "invalid" .) -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{/* A setting's value as the package reads it: (list kind value). YAML makes booleans of `on` and `off` without quotes. */}}
{{- define "lameduck.settingText" -}}
{{- $kind := index . 0 -}}
{{- $text := include "lameduck.text" (index . 1) -}}
{{- if kindIs "slice" (index . 1) -}}
{{- join "," (index . 1) -}}
{{- else if and (has $kind (list "port" "path" "paths" "path prefixes" "file" "log file" "on or off")) (eq $text "false") -}}
off
{{- else if and (eq $kind "on or off") (eq $text "true") -}}
on
{{- else -}}
{{- $text -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.probePort" -}}
{{- $port := include "lameduck.settingText" (list "port" .Values.lameduck.probePort) -}}
{{- if not (or (eq $port "off") (eq $port "0") (eq $port "")) -}}{{- $port -}}{{- end -}}
{{- end -}}

{{/* The name of the container port that the kubelet asks. */}}
{{- define "lameduck.probedPort" -}}
{{- ternary "probes" "http" (ne (include "lameduck.probePort" .) "") -}}
{{- end -}}

{{/* What is given goes to the container, and so does every term of the sum, so that the process and the pod cannot
disagree. What is left out stays as the program's own code has it: the environment would overrule that. */}}
{{- define "lameduck.settings" -}}
{{- $b := include "lameduck.budget" . | fromJson -}}
{{- $settings := dict "terminationGracePeriodSeconds" (toString (int64 $b.grace)) -}}
{{- range $name, $kind := include "lameduck.kinds" . | fromYaml -}}
{{- $given := get $.Values.lameduck $name -}}
{{- if include "lameduck.isGiven" $given -}}{{- $_ := set $settings $name (include "lameduck.settingText" (list $kind $given)) -}}{{- end -}}
{{- end -}}
{{- range $name, $milliseconds := dict "shutdownDelayDuration" $b.delay "preShutdownHookTimeout" $b.hooks "destroyHookTimeout" $b.destroy "keepAliveTimeout" $b.keepAlive -}}
{{- if not (hasKey $settings $name) -}}{{- $_ := set $settings $name (include "lameduck.duration" $milliseconds) -}}{{- end -}}
{{- end -}}
{{- if not (hasKey $settings "preStopSeconds") -}}{{- $_ := set $settings "preStopSeconds" "0" -}}{{- end -}}
{{- /* Probes and load balancers use the probe port, so that the paths of the program's own port are all its own. */ -}}
{{- if and (include "lameduck.probePort" .) (not .Values.inject.enabled) (not (hasKey $settings "probePaths")) -}}{{- $_ := set $settings "probePaths" "off" -}}{{- end -}}
{{- if .Values.runFolder.enabled -}}
{{- range $name, $file := dict "checkpointPath" "checkpoint.json" "debugSocketPath" "lameduck.sock" -}}
{{- if not (hasKey $settings $name) -}}{{- $_ := set $settings $name (printf "%s/%s" (include "lameduck.runFolder" $) $file) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $text := $settings }}
- name: {{ include "lameduck.variable" $name }}
  value: {{ $text | quote }}
{{- end -}}
{{- end -}}

{{/* The hook's limit is a term of the sum, so it is passed in any case. */}}
{{- define "lameduck.electionSettings" -}}
- name: LEASE_NAME
  value: {{ include "lameduck.leaseName" . | quote }}
{{- $stop := include "lameduck.duration" (include "lameduck.budget" . | fromJson).stop -}}
{{- range $name, $kind := include "lameduck.electionKinds" . | fromYaml -}}
{{- $given := get $.Values.leaderElection $name -}}
{{- if eq $name "stopTimeout" -}}{{- $given = $stop -}}{{- end -}}
{{- if include "lameduck.isGiven" $given }}
- name: {{ include "lameduck.variable" (printf "leaderElection_%s" $name) }}
  value: {{ include "lameduck.settingText" (list $kind $given) | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The environment of the container: settings first, then the pod's own. */}}
{{- define "lameduck.environment" -}}
{{- include "lameduck.settings" . | trim }}
{{- if .Values.leaderElection.enabled }}
{{ include "lameduck.electionSettings" . | trim }}
{{- end }}
- name: PORT
  value: {{ .Values.containerPort | int64 | quote }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: NODE_NAME
  valueFrom: { fieldRef: { fieldPath: spec.nodeName } }
{{- if .Values.inject.enabled }}
- name: NODE_OPTIONS
  value: {{ include "lameduck.nodeOptions" . | quote }}
{{- end }}
{{- range $name, $value := ternary (omit (default dict .Values.env) "NODE_OPTIONS") .Values.env .Values.inject.enabled }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name | quote }}
  value: {{ include "lameduck.text" $value | quote }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
