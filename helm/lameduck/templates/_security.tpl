{{/* The default `securityContext` of the pod and of the container. Helm values can replace each field, and a field or a
whole `securityContext` that is null in the values is omitted. If the chart injects lameduck, the defaults set no user
and no read-only file system, because the program in the image may need its own. */}}

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

{{/* Returns, as JSON, the keys that the chart sets, such as the fields of a security context. Arguments: (list own
given). A key of `given` replaces the same key of `own`. A key that is null in `given` is removed. */}}
{{- define "lameduck.overridden" -}}
{{- $own := ternary dict (index . 0) (kindIs "invalid" (index . 1)) -}}
{{- range $key, $value := default dict (index . 1) -}}
{{- if kindIs "invalid" $value -}}{{- $own = omit $own $key -}}{{- else -}}{{- $_ := set $own $key $value -}}{{- end -}}
{{- end -}}
{{- toJson $own -}}
{{- end -}}
