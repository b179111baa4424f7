{{/* Checks each setting in the chart values against the type of the setting, such as a duration or a port. The texts of
the errors are those of the npm package. */}}

{{/* Arguments: (list kind value). If `value` is invalid for a setting of the type `kind`, returns a description of the
valid values. Otherwise, returns an empty text. */}}
{{- define "lameduck.allowed" -}}
{{- $kind := index . 0 -}}
{{- $value := index . 1 -}}
{{- $text := include "lameduck.settingText" . -}}
{{- if has $kind (list "duration" "limit" "stall limit" "period" "whole seconds") -}}
{{- include "lameduck.allowedDuration" (list $kind $value $text) -}}
{{- else if eq $kind "durations" -}}
{{- include "lameduck.allowedDurations" $text -}}
{{- else if eq $kind "boolean" -}}
{{- if not (has $text (list "true" "false")) -}}true or false{{- end -}}
{{- else if eq $kind "seconds" -}}
{{- include "lameduck.allowedSeconds" $text -}}
{{- else if eq $kind "count" -}}
{{- if not (and (regexMatch "^[0-9]{1,7}$" $text) (le (int64 $text) 1000000)) -}}a whole number from 0 (off) to 1000000{{- end -}}
{{- else if eq $kind "chance" -}}
{{- if not (and (regexMatch "^[0-9]*[.]?[0-9]+$" $text) (le (float64 $text) 0.02)) -}}a number from 0 (off) to 0.02{{- end -}}
{{- else if eq $kind "port" -}}
{{- if not (or (eq $text "off") (and (regexMatch "^(0|[1-9][0-9]{0,4})$" $text) (le (int64 $text) 65535))) -}}a TCP port from 1 to 65535, or the word off{{- end -}}
{{- else if eq $kind "host" -}}
{{- $byte := "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])" -}}
{{- $groups := "([0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,6})?" -}}
{{- $isAddress := regexMatch (printf "(?i)^(%s([.]%s){3}|%s::%s|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7})$" $byte $byte $groups $groups) $text -}}
{{- /* In an IPv6 address, `::` stands for at least one group, so the address has at most seven other groups. */ -}}
{{- if or (not $isAddress) (and (contains "::" $text) (gt (len (compact (splitList ":" $text))) 7)) -}}an IP address such as 0.0.0.0 or ::1{{- end -}}
{{- else if eq $kind "path" -}}
{{- if not (or (eq $text "off") (and (regexMatch "^(/[A-Za-z0-9._~-]+)+$" $text) (not (regexMatch "(?i)^/(readyz|livez|healthz)(/|$)" $text)))) -}}a path such as /metrics that is not a probe path, or the word off{{- end -}}
{{- else if has $kind (list "paths" "path prefixes") -}}
{{- $example := ternary "/health,/ready" "/socket.io,/watch" (eq $kind "paths") -}}
{{- if not (or (eq $text "off") (regexMatch "^/[^?#, ]*( *, */[^?#, ]*)*$" $text)) -}}one or more paths such as {{ $example }}, each beginning with / and without a query, or the word off
{{- else if and (eq $kind "paths") (regexMatch "(?i)(^|,) */livez(/|[, ]|$)" $text) -}}a list of paths without /livez, because the kubelet kills a container whose liveness probe gets a 503
{{- else if and (eq $kind "path prefixes") (regexMatch "(^|,) */+ *(,|$)" $text) -}}a list of paths without the path / itself, because every path begins with /{{- end -}}
{{- else if eq $kind "namespace" -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" $text) -}}the name of a namespace: at most 63 lower-case letters, digits and "-"{{- end -}}
{{- else if eq $kind "Lease" -}}
{{- if not (and (le (len $text) 253) (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" $text)) -}}the name of a Lease: at most 253 lower-case letters, digits, "-" and "."{{- end -}}
{{- else if eq $kind "file" -}}
{{- if not (or (eq $text "off") (regexMatch "^/.*[^/]$" $text)) -}}an absolute path of a file such as /dev/termination-log, or the word off{{- end -}}
{{- else if eq $kind "log file" -}}
{{- if not (or (has $text (list "off" "-")) (regexMatch "^/.*[^/]$" $text)) -}}an absolute path of a file such as /var/log/audit.log, - for standard output, or the word off{{- end -}}
{{- else if eq $kind "process signals" -}}
{{- if not (regexMatch "^SIG(TERM|INT|HUP|QUIT|USR1|USR2|WINCH|ALRM|ABRT|CONT|TSTP|TTIN|TTOU)( *, *SIG(TERM|INT|HUP|QUIT|USR1|USR2|WINCH|ALRM|ABRT|CONT|TSTP|TTIN|TTOU))*$" $text) -}}one or more of the process signals that a program can catch, such as SIGTERM,SIGINT{{- end -}}
{{- else if contains " or " $kind -}}
{{- if not (has $text (splitList " or " $kind)) -}}{{- $kind -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns the error of an invalid duration. For a number without a unit, it proposes seconds below 1000, and milliseconds
from 1000 on. */}}
{{- define "lameduck.allowedDuration" -}}
{{- $kind := index . 0 -}}
{{- $text := index . 2 -}}
{{- $least := get (dict "duration" 0 "limit" 1 "stall limit" 1000 "period" 1000 "whole seconds" 1000) $kind -}}
{{- $milliseconds := include "lameduck.milliseconds" $text -}}
{{- $whole := include "lameduck.wholeMilliseconds" $text -}}
{{- if and (regexMatch "^[0-9]{1,15}([.][0-9]{1,15})?$" $text) (ne $text "0") -}}
a duration with its unit; did you mean {{ $text }}{{ ternary "s" "ms" (lt (float64 $text) 1000.0) }}?
{{- else if eq $kind "whole seconds" -}}
{{- if or (eq $milliseconds "") (lt (int64 $whole) 1000) (ne (mod (int64 $whole) 1000) 0) (ne $milliseconds $whole) -}}
a duration of whole seconds such as 15s or 1m, from 1s to 596h
{{- end -}}
{{- else if or (eq $milliseconds "") (lt (int64 $whole) (int64 $least)) -}}
{{- if not (and (eq $kind "stall limit") (eq $milliseconds "0")) -}}
{{ ternary "0s, or a" "a" (eq $kind "stall limit") }} duration such as 15s or 1m30s, from {{ include "lameduck.duration" $least }} to 596h
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.allowedDurations" -}}
{{- $last := -1.0 -}}{{- $isAllowed := le (len (splitList "," .)) 50 -}}
{{- range splitList "," . -}}
{{- $milliseconds := include "lameduck.exactMilliseconds" (trim .) | default "0" | float64 -}}
{{- if or (lt $milliseconds 1.0) (le $milliseconds $last) -}}{{- $isAllowed = false -}}{{- end -}}
{{- $last = $milliseconds -}}
{{- end -}}
{{- if not $isAllowed -}}at most 50 durations in ascending order, such as 100ms,1s,1m{{- end -}}
{{- end -}}

{{- define "lameduck.allowedSeconds" -}}
{{- if not (and (regexMatch "^(0|[1-9][0-9]{0,6})$" .) (le (int64 .) 2000000)) -}}
{{- $meant := include "lameduck.milliseconds" . -}}
a whole number of seconds{{- if ne $meant "" }}, without a unit; did you mean {{ div (int64 $meant) 1000 }}?{{ else }} from 0 to 2000000{{ end -}}
{{- end -}}
{{- end -}}
