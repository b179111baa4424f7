{{/* Renders the environment variables of the container. */}}

{{/* The settings of leader election, each with its kind. `leaseName` is not in this list, because it is no setting: the
program itself reads LEASE_NAME. */}}
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

{{/* Returns the environment variables of leader election. `stopTimeout` is always set, because the chart includes it in the
grace period. */}}
{{- define "lameduck.electionSettings" -}}
- name: LEASE_NAME
  value: {{ include "lameduck.leaseName" . | quote }}
{{- $stop := include "lameduck.duration" (include "lameduck.times" . | fromJson).stop -}}
{{- range $name, $kind := include "lameduck.electionKinds" . | fromYaml -}}
{{- $given := get $.Values.leaderElection $name -}}
{{- if eq $name "stopTimeout" -}}{{- $given = $stop -}}{{- end -}}
{{- if include "lameduck.isGiven" $given }}
- name: {{ include "lameduck.variable" (printf "leaderElection_%s" $name) }}
  value: {{ include "lameduck.settingText" (list $kind $given) | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns, as JSON, the settings of lameduck that the chart chooses if the user has not set them in the chart values.
If the chart injects lameduck into the program, `probePaths` is not one of these settings, because probes may use the
program's own port. */}}
{{- define "lameduck.ownSettings" -}}
{{- $own := ternary dict (include "lameduck.defaultSettings" . | fromJson) (eq (include "lameduck.injects" .) "yes") -}}
{{- if include "lameduck.mountsRunFolder" . -}}
{{- $_ := set $own "debugSocketPath" (printf "%s/lameduck.sock" (include "lameduck.runFolder" .)) -}}
{{- end -}}
{{- toJson $own -}}
{{- end -}}

{{/* Returns the environment variables of the container: first the settings, and then the variables in the values. */}}
{{- define "lameduck.environment" -}}
{{- include "lameduck.settings" (list . (include "lameduck.ownSettings" . | fromJson)) | trim }}
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
{{- if include "lameduck.injects" . }}
- name: NODE_OPTIONS
  value: {{ include "lameduck.nodeOptions" . | quote }}
{{- end }}
{{- range $name, $value := ternary (omit (default dict .Values.env) "NODE_OPTIONS") .Values.env (eq (include "lameduck.injects" .) "yes") }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name | quote }}
  {{- if kindIs "map" $value }}
  {{- include "lameduck.yaml" (list $ $value) | nindent 2 }}
  {{- else }}
  value: {{ tpl (include "lameduck.text" $value) $ | quote }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ include "lameduck.yaml" (list $ .) }}
{{- end }}
{{- end -}}
