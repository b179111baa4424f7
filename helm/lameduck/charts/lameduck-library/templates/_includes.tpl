{{/* The templates for charts of your own. They read only `.Values.lameduck`. README.md shows where to include each template. */}}

{{/* Returns `terminationGracePeriodSeconds`, for the spec of the pod. */}}
{{- define "lameduck.budget" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
terminationGracePeriodSeconds: {{ (include "lameduck.times" $context | fromJson).grace | int64 }}
{{- end -}}

{{/* Returns the variables of the settings, for the `env` of the container. */}}
{{- define "lameduck.env" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
{{- include "lameduck.settings" (list $context (include "lameduck.defaultSettings" $context | fromJson)) | trim -}}
{{- end -}}

{{/* Returns `readinessProbe`, `livenessProbe` and `startupProbe`, for the container. */}}
{{- define "lameduck.probes" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
{{- include "lameduck.probesOn" (list $context (include "lameduck.probePort" $context | default "http")) | trim -}}
{{- end -}}

{{/* Returns `lifecycle` if there is a sleep, and the fields of the termination message, for the container. */}}
{{- define "lameduck.lifecycle" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
{{- include "lameduck.ending" (list $context (include "lameduck.sleep" $context | fromJson)) | trim -}}
{{- end -}}

{{/* The defaults of the block `lameduck`. They are the defaults of the application chart. */}}
{{- define "lameduck.defaults" -}}
front: none
longestRequestDuration: 30s
marginDuration: 5s
preStopSeconds: 0
preShutdownHookTimeout: 5s
destroyHookTimeout: 3s
enabled: true
allowShortDelay: false
allowLongGracePeriod: false
allowOtherStopSignal: false
probePort: 8081
probes:
  readiness: { path: /readyz, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 2 }
  liveness: { path: /livez, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }
  startup: { path: /livez, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 60 }
{{- end -}}

{{/* Returns the values in the form that the other templates read, as JSON. In the application chart, `probes` is beside the
block `lameduck`. The library has no leader election. */}}
{{- define "lameduck.checked" -}}
{{- $given := default dict .Values.lameduck -}}
{{- if not (kindIs "map" $given) -}}
{{- fail (printf "\n\nlameduck: the value lameduck (%s) must be a map; write it as { longestRequestDuration: 30s }\n" (toJson $given)) -}}
{{- end -}}
{{- $block := mergeOverwrite (include "lameduck.defaults" . | fromYaml) (deepCopy $given) -}}
{{- $context := dict "Values" (dict "lameduck" (omit $block "probes") "probes" $block.probes "leaderElection" (dict "enabled" false "stopTimeout" "5s")) -}}
{{- $problems := dict "lines" list -}}
{{- $arguments := list $context $problems -}}
{{- include "lameduck.refuseUnknown" $arguments -}}
{{- include "lameduck.refuseKinds" $arguments -}}
{{- include "lameduck.refuseTimes" $arguments -}}
{{- include "lameduck.refuseFront" $arguments -}}
{{- include "lameduck.refuseProbes" $arguments -}}
{{- $lines := list -}}
{{- range $problems.lines -}}{{- $lines = append $lines (regexReplaceAll "^probes[.]" . "lameduck.probes.") -}}{{- end -}}
{{- include "lameduck.failWith" $lines -}}
{{- toJson $context -}}
{{- end -}}

{{/* Rejects misspelled names of values, because a library chart has no schema for the values of the chart that includes it. */}}
{{- define "lameduck.refuseUnknown" -}}
{{- $context := index . 0 -}}{{- $problems := index . 1 -}}
{{- $known := concat (include "lameduck.defaults" . | fromYaml | keys) (include "lameduck.kinds" . | fromYaml | keys) (include "lameduck.terms" . | fromYaml | keys) (list "terminationGracePeriodSeconds") -}}
{{- range $name, $value := $context.Values.lameduck -}}
{{- if not (has $name $known) -}}
{{- include "lameduck.refuse" (list $problems (printf "lameduck.%s" $name) $value "is not a value of the block lameduck" "correct the name; docs/settings.md has all of them") -}}
{{- end -}}
{{- end -}}
{{- end -}}
