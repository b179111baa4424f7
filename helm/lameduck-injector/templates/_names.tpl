{{/* The names and labels of the admission policy and of its binding. Both objects are cluster-wide. They have the name
of the Helm release, so that two releases of this chart have different objects. */}}

{{- define "injector.name" -}}
{{- regexReplaceAll "[^a-z0-9.-]" (lower .Release.Name) "-" | trimAll "-." -}}
{{- end -}}

{{- define "injector.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "injector.isNew" -}}
{{- if semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version -}}yes{{- end -}}
{{- end -}}

{{- define "injector.apiVersion" -}}
admissionregistration.k8s.io/{{ ternary "v1" "v1beta1" (eq (include "injector.isNew" .) "yes") }}
{{- end -}}

{{- define "injector.delivery" -}}
{{- .Values.delivery | default (ternary "imageVolume" "initContainer" (eq (include "injector.isNew" .) "yes")) -}}
{{- end -}}

{{/* Returns a value as text. Helm reads the numbers in a values file as floats, so a large whole number must be
converted to an integer. Otherwise the text of a large number would have an exponent, such as 1e+06. */}}
{{- define "injector.text" -}}
{{- if kindIs "float64" . -}}{{- ternary (int64 .) . (eq (floor .) .) | toString -}}
{{- else if not (kindIs "invalid" .) -}}{{- toString . -}}{{- end -}}
{{- end -}}

{{/* Quotes a text as a string of CEL. */}}
{{- define "injector.string" -}}
'{{ . | replace "\\" "\\\\" | replace "'" "\\'" }}'
{{- end -}}
