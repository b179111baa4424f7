{{/* Names and labels. A selector is immutable, so it contains only labels that never change. Neither the selector nor the
pods have a label with the version of the chart or of the application. */}}

{{- define "lameduck.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Returns the name of the chart's objects. The name is cut so that it has at most 63 characters together with
`-metrics`, the longest suffix. A Service's name must begin with a letter, and must not contain dots or capital letters.
The name of a Helm release or the alias of a chart may contain both. */}}
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

{{/* The labels that the chart itself adds to every object except the pods. */}}
{{- define "lameduck.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "lameduck.selectorLabels" . }}
app.kubernetes.io/version: {{ include "lameduck.version" . | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Returns the labels of an object that the chart creates. The labels of pods do not come from this template. */}}
{{- define "lameduck.labels" -}}
{{- include "lameduck.labelsWith" (list . dict) -}}
{{- end -}}

{{/* Returns the labels that all objects of the chart share, and the labels of one object. Arguments: (list $ labels).
If a key is in both, the value in `labels` is used. */}}
{{- define "lameduck.labelsWith" -}}
{{- $ := index . 0 -}}
{{- include "lameduck.ownLabels" $ }}
{{- with merge dict (default dict (index . 1)) (default dict $.Values.commonLabels) }}
{{ include "lameduck.yaml" (list $ .) }}
{{- end }}
{{- end -}}

{{- define "lameduck.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "lameduck.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Returns the version of the application: the tag of the image, or else the beginning of its digest. */}}
{{- define "lameduck.version" -}}
{{- $digest := default "" .Values.image.digest | trimPrefix "sha256:" | trunc 12 -}}
{{- include "lameduck.text" .Values.image.tag | default $digest | default .Chart.AppVersion | trunc 63 | trimAll "-_." -}}
{{- end -}}

{{/* Returns the reference of an image. If the chart values set a registry, this registry replaces the registry in the
reference. Arguments: (list $ image). */}}
{{- define "lameduck.inRegistry" -}}
{{- $ := index . 0 -}}
{{- $registry := $.Values.image.registry | default (default dict $.Values.global).imageRegistry -}}
{{- $own := regexFind "^(localhost|[^/]*[.:][^/]*)/" (index . 1) -}}
{{- if $registry -}}{{- printf "%s/%s" (trimSuffix "/" $registry) (trimPrefix $own (index . 1)) -}}{{- else -}}{{- index . 1 -}}{{- end -}}
{{- end -}}

{{/* Returns the reference of the image. If it has a digest, the kubelet ignores its tag. */}}
{{- define "lameduck.image" -}}
{{- $image := .Values.image -}}
{{- include "lameduck.inRegistry" (list . $image.repository) -}}
{{- with include "lameduck.text" $image.tag }}:{{ . }}{{ end -}}
{{- with $image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{/* Returns the names of the Secrets with which the kubelet pulls images, as JSON: first those in `imagePullSecrets`,
and then those in `global.imagePullSecrets`. */}}
{{- define "lameduck.pullSecrets" -}}
{{- $secrets := list -}}
{{- range concat (default list .Values.imagePullSecrets) (default list (default dict .Values.global).imagePullSecrets) -}}
{{- $secret := kindIs "string" . | ternary (dict "name" .) . -}}
{{- if not (has $secret $secrets) -}}{{- $secrets = append $secrets $secret -}}{{- end -}}
{{- end -}}
{{- toJson $secrets -}}
{{- end -}}

{{/* A name for files and rule groups that must be unique in the cluster. It begins with the namespace, because
lameduck.fullname is unique only in its namespace. */}}
{{- define "lameduck.groupName" -}}
{{- printf "%s-%s" .Release.Namespace (include "lameduck.fullname" .) -}}
{{- end -}}
