{{/* Everything that would lose requests or that no API server takes is refused here, all of it in one message. `helm lint`
keeps silent about it: only rendering tells. */}}

{{/* Adds one refusal: (list problems path value rule remedy). */}}
{{- define "lameduck.refuse" -}}
{{- $problems := index . 0 -}}
{{- $value := index . 2 -}}
{{- $shown := ternary (include "lameduck.text" $value) (toJson $value) (has (kindOf $value) (list "string" "int" "int64" "float64")) -}}
{{- $line := printf "%s (%s): %s; %s" (index . 1) $shown (index . 3) (index . 4) -}}
{{- $_ := set $problems "lines" (append $problems.lines $line) -}}
{{- end -}}

{{- define "lameduck.validate" -}}
{{- $problems := dict "lines" list -}}
{{- $arguments := list . $problems -}}
{{- include "lameduck.refuseKinds" $arguments -}}
{{- include "lameduck.refuseTimes" $arguments -}}
{{- include "lameduck.refuseElection" $arguments -}}
{{- include "lameduck.refuseFront" $arguments -}}
{{- include "lameduck.refuseProbes" $arguments -}}
{{- include "lameduck.refuseRollout" $arguments -}}
{{- include "lameduck.refuseReplicas" $arguments -}}
{{- include "lameduck.refuseDisruption" $arguments -}}
{{- include "lameduck.refuseNames" $arguments -}}
{{- include "lameduck.refuseContainers" $arguments -}}
{{- include "lameduck.refuseImage" $arguments -}}
{{- include "lameduck.refuseInjection" $arguments -}}
{{- include "lameduck.refuseRoutes" $arguments -}}
{{- include "lameduck.refuseMonitors" $arguments -}}
{{- include "lameduck.refuseAlerts" $arguments -}}
{{- if $problems.lines -}}
{{- fail (printf "\n\nlameduck: %s:\n  - %s\n" (eq (len $problems.lines) 1 | ternary "a value cannot stay as it is" (printf "%d of the values cannot stay as they are" (len $problems.lines))) (join "\n  - " $problems.lines)) -}}
{{- end -}}
{{- end -}}
