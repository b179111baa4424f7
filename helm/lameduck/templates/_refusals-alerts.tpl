{{/* Rejects invalid values of `alerts`. */}}

{{- define "lameduck.refuseAlerts" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- $defaults := include "lameduck.alertDefaults" $ | fromYaml -}}
{{- range $name, $given := default dict $v.alerts.rules -}}
{{- $path := printf "alerts.rules.%s" $name -}}
{{- if not (hasKey $defaults $name) -}}
{{- include "lameduck.refuse" (list $problems $path $given (printf "must be the name of an alert: %s" (keys $defaults | sortAlpha | join ", ")) "correct the name") -}}
{{- else if kindIs "map" $given -}}
{{- range $field, $value := $given -}}
{{- $where := printf "%s.%s" $path $field -}}
{{- if eq $field "enabled" -}}
{{- if not (kindIs "bool" $value) -}}
{{- include "lameduck.refuse" (list $problems $where $value "must be true or false" "correct it") -}}
{{- end -}}
{{- else if eq $field "for" -}}
{{- if not (regexMatch "^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$" (default "none" $value | toString)) -}}
{{- include "lameduck.refuse" (list $problems $where $value "must be a duration that Prometheus accepts" "write it as 5m or 1m30s") -}}
{{- end -}}
{{- else if eq $field "severity" -}}
{{- if not (and (kindIs "string" $value) $value) -}}
{{- include "lameduck.refuse" (list $problems $where $value "must be a text" "write it as warning or critical") -}}
{{- end -}}
{{- else if and (eq $field "threshold") (hasKey (get $defaults $name) "threshold") -}}
{{- if not (regexMatch "^[0-9]+([.][0-9]+)?$" (include "lameduck.text" $value)) -}}
{{- include "lameduck.refuse" (list $problems $where $value "must be a number of at least 0" "correct it") -}}
{{- end -}}
{{- else -}}
{{- include "lameduck.refuse" (list $problems $where $value (printf "this alert has only the fields %s" (concat (list "enabled" "severity") (keys (get $defaults $name)) | uniq | sortAlpha | join ", ")) "use one of these fields") -}}
{{- end -}}
{{- end -}}
{{- else if not (kindIs "invalid" $given) -}}
{{- include "lameduck.refuse" (list $problems $path $given "must be a map" "write it as { enabled: false }") -}}
{{- end -}}
{{- end -}}
{{- range $name := list "prometheusRule" "logRules" -}}
{{- $scope := (get $v $name).scope -}}
{{- if and (get $v $name).enabled $v.rulesOnly (ne $scope "cluster") -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.scope" $name) $scope "must be cluster if rulesOnly is set, because this release has no pods" "set it to cluster, or remove rulesOnly") -}}
{{- end -}}
{{- end -}}
{{- end -}}
