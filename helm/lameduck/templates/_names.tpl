{{/* Names and labels. The selector is immutable, so it has only what never changes; nothing of the chart's or the
application's version stands in it, nor on the pods. */}}

{{- define "lameduck.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The longest suffix is `-metrics`: the base is cut so that every name with one fits in 63 characters. A Service's name
begins with a letter, and has no dot and no capital, as a release or the alias of a dependency may. */}}
{{- define "lameduck.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := .Values.fullnameOverride -}}
{{- if not $full -}}
{{- $full = ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- if not (regexMatch "^[a-zA-Z]" $full) -}}{{- $full = printf "r%s" $full -}}{{- end -}}
{{- end -}}
{{- regexReplaceAll "[^a-z0-9-]" (lower $full) "-" | trunc 54 | trimSuffix "-" -}}
{{- end -}}

{{- define "lameduck.selectorLabels" -}}
app.kubernetes.io/name: {{ include "lameduck.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: server
{{- end -}}

{{/* What the chart itself labels every object with but the pods. */}}
{{- define "lameduck.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "lameduck.selectorLabels" . }}
app.kubernetes.io/version: {{ include "lameduck.version" . | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* The labels of every object but the pods. */}}
{{- define "lameduck.labels" -}}
{{- include "lameduck.labelsWith" (list . dict) -}}
{{- end -}}

{{/* The labels of an object that has labels of its own, which win over those of all objects: (list $ labels). */}}
{{- define "lameduck.labelsWith" -}}
{{- $ := index . 0 -}}
{{- include "lameduck.ownLabels" $ }}
{{- with merge dict (default dict (index . 1)) (default dict $.Values.commonLabels) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "lameduck.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "lameduck.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The version of the application: the tag of the image, or else the beginning of its digest. */}}
{{- define "lameduck.version" -}}
{{- $digest := default "" .Values.image.digest | trimPrefix "sha256:" | trunc 12 -}}
{{- include "lameduck.text" .Values.image.tag | default $digest | default .Chart.AppVersion | trunc 63 | trimAll "-_." -}}
{{- end -}}

{{/* An image with the registry of the values instead of its own: (list $ image). */}}
{{- define "lameduck.inRegistry" -}}
{{- $ := index . 0 -}}
{{- $registry := $.Values.image.registry | default (default dict $.Values.global).imageRegistry -}}
{{- $own := regexFind "^(localhost|[^/]*[.:][^/]*)/" (index . 1) -}}
{{- if $registry -}}{{- printf "%s/%s" (trimSuffix "/" $registry) (trimPrefix $own (index . 1)) -}}{{- else -}}{{- index . 1 -}}{{- end -}}
{{- end -}}

{{/* With a digest the tag only informs. */}}
{{- define "lameduck.image" -}}
{{- $image := .Values.image -}}
{{- include "lameduck.inRegistry" (list . $image.repository) -}}
{{- with include "lameduck.text" $image.tag }}:{{ . }}{{ end -}}
{{- with $image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{/* A name for files and groups that are unique in a cluster. The fullname is unique in a namespace. */}}
{{- define "lameduck.groupName" -}}
{{- printf "%s-%s" .Release.Namespace (include "lameduck.fullname" .) -}}
{{- end -}}
