{{/* The probes and the end of a container. */}}

{{- define "lameduck.probe" -}}
httpGet: { path: {{ (index . 0).path | quote }}, port: {{ index . 1 }} }
periodSeconds: {{ (index . 0).periodSeconds | int64 }}
timeoutSeconds: {{ (index . 0).timeoutSeconds | int64 }}
failureThreshold: {{ (index . 0).failureThreshold | int64 }}
successThreshold: 1
{{- end -}}

{{/* The three probes on a port: (list $ port). A process that has to be restarted does not get the whole time of a drain. */}}
{{- define "lameduck.probesOn" -}}
{{- $ := index . 0 -}}{{- $port := index . 1 -}}
{{- $grace := (include "lameduck.times" $ | fromJson).grace | int64 -}}
{{- $probes := $.Values.probes -}}
{{- $own := eq (include "lameduck.isGiven" $probes.liveness.terminationGracePeriodSeconds) "yes" -}}
readinessProbe:
  {{- include "lameduck.probe" (list $probes.readiness $port) | nindent 2 }}
livenessProbe:
  {{- include "lameduck.probe" (list $probes.liveness $port) | nindent 2 }}
  terminationGracePeriodSeconds: {{ $own | ternary $probes.liveness.terminationGracePeriodSeconds (min $grace 30) | int64 }}
startupProbe:
  {{- include "lameduck.probe" (list $probes.startup $port) | nindent 2 }}
{{- end -}}

{{- define "lameduck.ending" -}}
{{- $preStop := include "lameduck.text" .Values.lameduck.preStopSeconds -}}
{{- if not (has $preStop (list "" "0")) }}
lifecycle:
  preStop:
    sleep:
      seconds: {{ $preStop }}
{{- end }}
terminationMessagePolicy: FallbackToLogsOnError
{{- with .Values.lameduck.terminationMessagePath }}
{{- if ne . "off" }}
terminationMessagePath: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}
