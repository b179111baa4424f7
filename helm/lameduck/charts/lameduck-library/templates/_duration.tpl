{{/* Parses Go's duration strings, because Helm 3 has no function that parses them. */}}

{{/* Returns the milliseconds of a duration, rounded up. It returns an empty text if the value is not a duration, or is
longer than the package accepts. */}}
{{- define "lameduck.milliseconds" -}}
{{- with include "lameduck.exactMilliseconds" . -}}{{- ceil (float64 .) | int64 -}}{{- end -}}
{{- end -}}

{{/* Returns the milliseconds of a duration, rounded down. Use it for values that have a minimum. */}}
{{- define "lameduck.wholeMilliseconds" -}}
{{- with include "lameduck.exactMilliseconds" . -}}{{- floor (float64 .) | int64 -}}{{- end -}}
{{- end -}}

{{- define "lameduck.exactMilliseconds" -}}
{{- $part := "([0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h)" -}}
{{- $perUnit := dict "ns" 0.000001 "us" 0.001 "µs" 0.001 "μs" 0.001 "ms" 1 "s" 1000 "m" 60000 "h" 3600000 -}}
{{- if and (kindIs "string" .) (eq . "0") -}}
0
{{- else if and (kindIs "string" .) (regexMatch (printf "^(%s)+$" $part) .) (lt (len .) 40) -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll $part . -1 -}}
{{- $unit := regexFind "[a-zµμ]+$" . -}}
{{- $sum = addf $sum (mulf (trimSuffix $unit . | float64) (get $perUnit $unit)) -}}
{{- end -}}
{{- if le $sum 2147483647.0 -}}{{- $sum -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns a duration as text for a reader, such as 48s or 900ms. */}}
{{- define "lameduck.duration" -}}
{{- $milliseconds := int64 . -}}
{{- if eq (mod $milliseconds 1000) 0 -}}{{- div $milliseconds 1000 -}}s{{- else -}}{{- $milliseconds -}}ms{{- end -}}
{{- end -}}
