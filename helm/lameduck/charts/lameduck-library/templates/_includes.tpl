{{/* The templates for charts of your own. They read only `.Values.lameduck`. README.md shows where to include each template. */}}

{{/* Returns `terminationGracePeriodSeconds`, for the spec of the pod. */}}
{{- define "lameduck.budget" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
terminationGracePeriodSeconds: {{ (include "lameduck.times" $context | fromJson).grace | int64 }}
{{- end -}}

{{/* Returns the environment variables of the settings, for the `env` of the container. */}}
{{- define "lameduck.env" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
{{- include "lameduck.settings" (list $context (include "lameduck.defaultSettings" $context | fromJson)) | trim -}}
{{- end -}}

{{/* Returns `readinessProbe`, `livenessProbe` and `startupProbe`, for the container. */}}
{{- define "lameduck.probes" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
{{- include "lameduck.probesOn" (list $context (include "lameduck.probePort" $context | default "http")) | trim -}}
{{- end -}}

{{/* Returns two or three fields for the manifest of a container: `terminationMessagePolicy`, `terminationMessagePath`
unless it is off, and `lifecycle` if the preStop hook sleeps. */}}
{{- define "lameduck.lifecycle" -}}
{{- $context := include "lameduck.checked" . | fromJson -}}
{{- include "lameduck.ending" (list $context (include "lameduck.sleep" $context | fromJson)) | trim -}}
{{- end -}}

{{/* The defaults of the block `lameduck` in the library chart. The application chart has the same defaults. */}}
{{- define "lameduck.defaults" -}}
front: none
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

{{/* Returns the values of the library chart as JSON, in the form of the values of the application chart. The same
templates can then read the values of both charts. In the library chart, the block `probes` is inside the block
`lameduck`. This template moves `probes` to the top level, where the application chart has it. It also switches leader
election off, because the library chart has none. */}}
{{- define "lameduck.checked" -}}
{{- $given := default dict .Values.lameduck -}}
{{- if not (kindIs "map" $given) -}}
{{- fail (printf "\n\nlameduck: the value lameduck (%s) must be a map; write it as { longestRequestDuration: 30s }\n" (toJson $given)) -}}
{{- end -}}
{{- $problems := dict "lines" list -}}
{{- $block := mergeOverwrite (include "lameduck.defaults" . | fromYaml) (deepCopy $given) -}}
{{- $probes := include "lameduck.probesOf" (list $problems $given.probes) | fromJson -}}
{{- $context := dict "Values" (dict "lameduck" (omit $block "probes") "probes" $probes "leaderElection" (dict "enabled" false "stopTimeout" "5s")) -}}
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

{{/* Returns the user's values `lameduck.probes` as JSON. Arguments: (list problems given), where `given` are these
values. Each invalid field of a probe is replaced by its default, so that each invalid field causes only one error. */}}
{{- define "lameduck.probesOf" -}}
{{- $problems := index . 0 -}}{{- $given := index . 1 -}}
{{- $probes := (include "lameduck.defaults" . | fromYaml).probes -}}
{{- if kindIs "map" $given -}}
{{- range $name, $probe := $given -}}
{{- $path := printf "lameduck.probes.%s" $name -}}
{{- if not (hasKey $probes $name) -}}
{{- include "lameduck.refuse" (list $problems $path $probe "must be readiness, liveness or startup" "correct the name") -}}
{{- else if kindIs "map" $probe -}}
{{- $fields := list "path" "initialDelaySeconds" "periodSeconds" "timeoutSeconds" "failureThreshold" -}}
{{- if eq $name "liveness" -}}{{- $fields = append $fields "terminationGracePeriodSeconds" -}}{{- end -}}
{{- range $field, $value := $probe -}}
{{- if not (has $field $fields) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.%s" $path $field) $value (printf "this probe has only the fields %s" (join ", " $fields)) "use one of these fields") -}}
{{- else if and (eq $field "path") (not (and (kindIs "string" $value) (hasPrefix "/" $value))) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.path" $path) $value "must be a text that begins with /" "correct it, or leave it out") -}}
{{- else if not (kindIs "invalid" $value) -}}
{{- $_ := set (get $probes $name) $field $value -}}
{{- end -}}
{{- end -}}
{{- else if not (kindIs "invalid" $probe) -}}
{{- include "lameduck.refuse" (list $problems $path $probe "must be a map" "write it as { periodSeconds: 5 }") -}}
{{- end -}}
{{- end -}}
{{- else if not (kindIs "invalid" $given) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probes" $given "must be a map" "write it as { startup: { failureThreshold: 90 } }") -}}
{{- end -}}
{{- toJson $probes -}}
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
