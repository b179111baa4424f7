{{/* The probes and the lifecycle hooks of a container. */}}

{{/* Returns `yes` unless `lameduck.enabled` is false, which switches lameduck off. */}}
{{- define "lameduck.isOn" -}}
{{- if ne (toString .Values.lameduck.enabled) "false" -}}yes{{- end -}}
{{- end -}}

{{/* Returns the three probes on a port: (list $ port). A probe in the values replaces the chart's probe of that type. */}}
{{- define "lameduck.probesOn" -}}
{{- $ := index . 0 -}}{{- $port := index . 1 -}}
{{- range $name := list "readiness" "liveness" "startup" }}
{{ $name }}Probe:
  {{- with get $.Values (printf "%sProbe" $name) }}
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
  {{- else }}
  {{- include "lameduck.probe" (list $ $name $port) | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Returns one probe: (list $ name port). If lameduck is off, no process answers the paths of the probe, so the probe opens
a TCP connection. After a failed liveness probe, the process has at most 30 s to end. */}}
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
terminationGracePeriodSeconds: {{ $own | ternary $probe.terminationGracePeriodSeconds (min $grace 30) | int64 }}
{{- end }}
{{- end -}}

{{/* Returns as JSON a `lifecycle` whose preStop hook sleeps before the process signal. If lameduck is off, the sleep also
lasts for the shutdown delay. */}}
{{- define "lameduck.sleep" -}}
{{- $b := include "lameduck.times" . | fromJson -}}
{{- $sleep := ternary (int64 $b.preStop) (add (int64 $b.preStop) (int64 $b.lead)) (eq (include "lameduck.isOn" .) "yes") -}}
{{- ternary dict (dict "preStop" (dict "sleep" (dict "seconds" (div (add $sleep 999) 1000)))) (eq $sleep 0) | toJson -}}
{{- end -}}

{{/* Returns the lifecycle of a container and the fields of its termination message: (list $ lifecycle). */}}
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

{{/* Returns a value as YAML, and renders the templates in it: (list $ value). */}}
{{- define "lameduck.yaml" -}}
{{- $text := toYaml (index . 1) -}}
{{- if contains "{{" $text -}}{{- tpl $text (index . 0) -}}{{- else -}}{{- $text -}}{{- end -}}
{{- end -}}
