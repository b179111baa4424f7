{{/* The settings of the npm package: their names, their types, and their environment variables in the container. */}}

{{/* The settings of the npm package, each with its type. The grace period of the pod is a setting too, but the chart
computes it. */}}
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
logLevel: silent or error or warn or info or debug
logFormat: json or gcp
auditLogPath: log file
terminationMessagePath: file
checkpointPath: file
debugSocketPath: file
debugSocketStack: boolean
{{- end -}}

{{/* The durations under `lameduck` that are not settings of the npm package. The chart only computes other durations
from them, such as the grace period. */}}
{{- define "lameduck.terms" -}}
longestRequestDuration: limit
marginDuration: limit
frontIdleTimeout: duration
frontDrainDuration: duration
{{- end -}}

{{- define "lameduck.variable" -}}
LAMEDUCK_{{ regexReplaceAll "[A-Z]" . "_${0}" | upper }}
{{- end -}}

{{/* Returns a value as text without an exponent. Helm would print a million as 1e+06, which lameduck cannot parse. */}}
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

{{/* Returns the value of a setting as text that the package can parse. Arguments: (list kind value), where `kind` is
the type of the setting. The types matter because YAML reads `on` and `off` without quotes as booleans. */}}
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
{{- if and (include "lameduck.isOn" .) (not (has $port (list "off" "0" ""))) -}}{{- $port -}}{{- end -}}
{{- end -}}

{{/* Returns the settings of the npm package as environment variables, for the `env` of the container. Arguments: (list
$ defaults). There is a variable for each setting in the chart values, for `keepAliveTimeout`, and for each duration in
the sum of the grace period. With these durations, the process computes the same grace period as the chart. If the user
has not set a setting in the chart values, its variable has the value from `defaults`. No other setting becomes a
variable, because a variable would override the program's code. */}}
{{- define "lameduck.settings" -}}
{{- $ := index . 0 -}}
{{- if not (include "lameduck.isOn" $) }}
- name: LAMEDUCK_DISABLED
  value: "1"
{{- else -}}
{{- $b := include "lameduck.times" $ | fromJson -}}
{{- $settings := dict "terminationGracePeriodSeconds" (toString (int64 $b.grace)) -}}
{{- range $name, $kind := include "lameduck.kinds" $ | fromYaml -}}
{{- $given := get $.Values.lameduck $name -}}
{{- if include "lameduck.isGiven" $given -}}{{- $_ := set $settings $name (include "lameduck.settingText" (list $kind $given)) -}}{{- end -}}
{{- end -}}
{{- range $name, $milliseconds := dict "shutdownDelayDuration" $b.delay "preShutdownHookTimeout" $b.hooks "destroyHookTimeout" $b.destroy "keepAliveTimeout" $b.keepAlive -}}
{{- if not (hasKey $settings $name) -}}{{- $_ := set $settings $name (include "lameduck.duration" $milliseconds) -}}{{- end -}}
{{- end -}}
{{- if not (hasKey $settings "preStopSeconds") -}}{{- $_ := set $settings "preStopSeconds" "0" -}}{{- end -}}
{{- range $name, $text := merge $settings (index . 1) }}
- name: {{ include "lameduck.variable" $name }}
  value: {{ $text | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns, as JSON, the setting `probePaths: off` if the container has a probe port. Probes and load balancers then
use the probe port, so the program's own port needs no probe paths. */}}
{{- define "lameduck.defaultSettings" -}}
{{- if include "lameduck.probePort" . -}}{{- dict "probePaths" "off" | toJson -}}{{- else -}}{}{{- end -}}
{{- end -}}
