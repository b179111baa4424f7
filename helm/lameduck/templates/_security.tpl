{{/* The security contexts of the chart. The values override single keys. A key that is null is removed, and so is a whole
context that is null. With injection, the image keeps its own user and a writable file system, because it may need them. */}}

{{- define "lameduck.podSecurity" -}}
{{- $own := dict "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- if not .Values.inject.enabled -}}{{- $own = merge $own (dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532) -}}{{- end -}}
{{- include "lameduck.overridden" (list $own .Values.podSecurityContext) -}}
{{- end -}}

{{- define "lameduck.containerSecurity" -}}
{{- $own := dict "allowPrivilegeEscalation" false -}}
{{- if not .Values.inject.enabled -}}{{- $own = merge $own (dict "readOnlyRootFilesystem" true "privileged" false "capabilities" (dict "drop" (list "ALL"))) -}}{{- end -}}
{{- include "lameduck.overridden" (list $own .Values.securityContext) -}}
{{- end -}}

{{/* Returns `yes` if the chart mounts an emptyDir at /tmp. A container into which lameduck is injected keeps the /tmp
of its image, unless its file system is read-only. */}}
{{- define "lameduck.mountsTmp" -}}
{{- if or (not .Values.inject.enabled) (include "lameduck.containerSecurity" . | fromJson).readOnlyRootFilesystem -}}yes{{- end -}}
{{- end -}}

{{/* Returns the chart's own keys, overridden by the given keys, as JSON: (list own given). */}}
{{- define "lameduck.overridden" -}}
{{- $own := ternary dict (index . 0) (kindIs "invalid" (index . 1)) -}}
{{- range $key, $value := default dict (index . 1) -}}
{{- if kindIs "invalid" $value -}}{{- $own = omit $own $key -}}{{- else -}}{{- $_ := set $own $key $value -}}{{- end -}}
{{- end -}}
{{- toJson $own -}}
{{- end -}}
