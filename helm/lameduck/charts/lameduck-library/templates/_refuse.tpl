{{/* Adds one refusal: (list problems path value rule remedy). */}}
{{- define "lameduck.refuse" -}}
{{- $problems := index . 0 -}}
{{- $value := index . 2 -}}
{{- $shown := ternary (include "lameduck.text" $value) (toJson $value) (has (kindOf $value) (list "string" "int" "int64" "float64")) -}}
{{- $line := printf "%s (%s): %s; %s" (index . 1) $shown (index . 3) (index . 4) -}}
{{- $_ := set $problems "lines" (append $problems.lines $line) -}}
{{- end -}}

{{/* Fails with all refusals in one message, if there are any. */}}
{{- define "lameduck.failWith" -}}
{{- if . -}}
{{- fail (printf "\n\nlameduck: %s:\n  - %s\n" (eq (len .) 1 | ternary "a value cannot stay as it is" (printf "%d of the values cannot stay as they are" (len .))) (join "\n  - " .)) -}}
{{- end -}}
{{- end -}}
