{{/* Adds one error to the list in `problems`. Arguments: (list problems path value rule remedy). */}}
{{- define "lameduck.refuse" -}}
{{- $problems := index . 0 -}}
{{- $value := index . 2 -}}
{{- $shown := ternary (include "lameduck.text" $value) (toJson $value) (has (kindOf $value) (list "string" "int" "int64" "float64")) -}}
{{- $line := printf "%s (%s): %s; %s" (index . 1) $shown (index . 3) (index . 4) -}}
{{- $_ := set $problems "lines" (append $problems.lines $line) -}}
{{- end -}}

{{/* The argument is a list of errors about chart values. If the list is not empty, the template fails with one message
that contains all the errors. */}}
{{- define "lameduck.failWith" -}}
{{- if . -}}
{{- fail (printf "\n\nlameduck: %s:\n  - %s\n" (eq (len .) 1 | ternary "a value is invalid" (printf "%d values are invalid" (len .))) (join "\n  - " .)) -}}
{{- end -}}
{{- end -}}
