{{/* The probes and the lifecycle hooks of a container. */}}

{{/* Returns `yes` unless the value `lameduck.enabled` is false. */}}
{{- define "lameduck.isOn" -}}
{{- if ne (toString .Values.lameduck.enabled) "false" -}}yes{{- end -}}
{{- end -}}

{{/* Returns, as JSON, the user's own probe from the chart value `readinessProbe`, `livenessProbe` or `startupProbe`.
Arguments: (list $ name), where `name` is `readiness`, `liveness` or `startup`. Returns an empty object if this chart
value is not set. If `lameduck.enabled` is false, no process answers the probe port or a path such as /readyz. Then also
returns an empty object for a probe of this port or path. */}}
{{- define "lameduck.givenProbe" -}}
{{- $ := index . 0 -}}
{{- $given := get $.Values (printf "%sProbe" (index . 1)) | default dict -}}
{{- $target := $given.httpGet | default $given.tcpSocket | default $given.grpc | default dict -}}
{{- $isPort := has (include "lameduck.text" $target.port) (list "probes" (include "lameduck.settingText" (list "port" $.Values.lameduck.probePort))) -}}
{{- $isPath := regexMatch "(?i)^/(readyz|livez|healthz)([/?]|$)" (toString $target.path) -}}
{{- ternary dict $given (and (not (include "lameduck.isOn" $)) (or $isPort $isPath)) | toJson -}}
{{- end -}}

{{/* Returns the three probes on a port. Arguments: (list $ port). A probe in the values replaces the chart's probe of
that type. */}}
{{- define "lameduck.probesOn" -}}
{{- $ := index . 0 -}}{{- $port := index . 1 -}}
{{- range $name := list "readiness" "liveness" "startup" }}
{{ $name }}Probe:
  {{- with include "lameduck.givenProbe" (list $ $name) | fromJson }}
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
  {{- else }}
  {{- include "lameduck.probe" (list $ $name $port) | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Returns one probe. Arguments: (list $ name port). If `lameduck.enabled` is false, the probe only opens a TCP
connection, because no process answers its path. The liveness probe has a grace period of its own: after its failure,
the process has the sleep of the preStop hook and at most 30 s to end. */}}
{{- define "lameduck.probe" -}}
{{- $ := index . 0 -}}{{- $name := index . 1 -}}
{{- $probe := get $.Values.probes $name -}}
{{- if include "lameduck.isOn" $ -}}
httpGet: { path: {{ $probe.path | quote }}, port: {{ index . 2 }} }
{{- else -}}
tcpSocket: { port: http }
{{- end }}
{{- with $probe.initialDelaySeconds }}
initialDelaySeconds: {{ . | int64 }}
{{- end }}
periodSeconds: {{ $probe.periodSeconds | int64 }}
timeoutSeconds: {{ $probe.timeoutSeconds | int64 }}
failureThreshold: {{ $probe.failureThreshold | int64 }}
successThreshold: 1
{{- if eq $name "liveness" }}
{{- $own := eq (include "lameduck.isGiven" $probe.terminationGracePeriodSeconds) "yes" }}
{{- $grace := (include "lameduck.times" $ | fromJson).grace | int64 }}
terminationGracePeriodSeconds: {{ $own | ternary $probe.terminationGracePeriodSeconds (min $grace (add 30 (include "lameduck.sleepSeconds" $))) | int64 }}
{{- end }}
{{- end -}}

{{/* Returns the seconds for which the preStop hook sleeps before the container gets SIGTERM: `preStopSeconds`. If
`lameduck.enabled` is false, the sleep is longer by the longest of the shutdown delay, the time limit of pre-shutdown
hooks, and the stopTimeout of the leader election. */}}
{{- define "lameduck.sleepSeconds" -}}
{{- $b := include "lameduck.times" . | fromJson -}}
{{- $sleep := ternary (int64 $b.preStop) (add (int64 $b.preStop) (int64 $b.lead)) (eq (include "lameduck.isOn" .) "yes") -}}
{{- div (add $sleep 999) 1000 -}}
{{- end -}}

{{/* Returns, as JSON, the field `lifecycle` of a container with a preStop hook of the type `sleep`. Returns an empty
object if the preStop hook would sleep for 0 seconds. */}}
{{- define "lameduck.sleep" -}}
{{- $seconds := include "lameduck.sleepSeconds" . | int64 -}}
{{- ternary dict (dict "preStop" (dict "sleep" (dict "seconds" $seconds))) (eq $seconds 0) | toJson -}}
{{- end -}}

{{/* Returns the field `lifecycle` of a container and the fields of its termination message. Arguments: (list $
lifecycle). */}}
{{- define "lameduck.ending" -}}
{{- $ := index . 0 -}}
{{- with index . 1 -}}
lifecycle:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
terminationMessagePolicy: FallbackToLogsOnError
{{- with $.Values.lameduck.terminationMessagePath }}
{{- if ne . "off" }}
terminationMessagePath: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Returns a value as YAML, and renders the templates in it. Arguments: (list $ value). */}}
{{- define "lameduck.yaml" -}}
{{- $text := toYaml (index . 1) -}}
{{- if contains "{{" $text -}}{{- tpl $text (index . 0) -}}{{- else -}}{{- $text -}}{{- end -}}
{{- end -}}
