{{/* Rejects all invalid values in one error. The API server would ignore some of them, and report others later and less
clearly. */}}

{{- define "injector.refuse" -}}
{{- $problems := index . 0 -}}
{{- $value := index . 2 -}}
{{- $shown := ternary (toJson $value) (include "injector.text" $value) (or (kindIs "map" $value) (kindIs "slice" $value) (kindIs "invalid" $value)) -}}
{{- $_ := set $problems "lines" (append $problems.lines (printf "%s (%s): %s; %s" (index . 1) $shown (index . 3) (index . 4))) -}}
{{- end -}}

{{- define "injector.validate" -}}
{{- $problems := dict "lines" list -}}
{{- range $name, $value := .Values -}}
{{- if not (has $name (list "image" "shutdownDelayDuration" "minTerminationGracePeriodSeconds" "allPods" "delivery" "preStopHook" "global" "enabled")) -}}
{{- include "injector.refuse" (list $problems $name $value "the chart has no such value" "correct its name, or leave it out") -}}
{{- end -}}
{{- end -}}
{{- include "injector.refuseImage" (list . $problems) -}}
{{- include "injector.refuseTimes" (list . $problems) -}}
{{- include "injector.refuseChoices" (list . $problems) -}}
{{- if $problems.lines -}}
{{- fail (printf "\n\nlameduck-injector: %s:\n  - %s\n" (eq (len $problems.lines) 1 | ternary "a value is invalid" (printf "%d values are invalid" (len $problems.lines))) (join "\n  - " $problems.lines)) -}}
{{- end -}}
{{- end -}}

{{- define "injector.refuseImage" -}}
{{- $ := index . 0 -}}
{{- $image := include "injector.text" $.Values.image -}}
{{- $path := "([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*" -}}
{{- $tag := ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}" -}}
{{- if or (hasSuffix ":latest" $image) (not (regexMatch (printf "^%s(%s|(%s)?@sha256:[0-9a-f]{64})$" $path $tag $tag) $image)) -}}
{{- include "injector.refuse" (list (index . 1) "image" $.Values.image "must be a complete image reference with a digest, or with a tag other than latest, because the pods of one rollout could otherwise load different versions" "write it as registry.example/lameduck:1.2.3") -}}
{{- end -}}
{{- end -}}

{{/* Rejects a grace period that is shorter than the sum of four durations. The first duration is the longer of the
shutdown delay and 5 s, the time limit of pre-shutdown hooks. The other three are 1 s for requests, 3 s for destroy
hooks, and 2 s before SIGKILL. The npm package computes the same sum. */}}
{{- define "injector.refuseTimes" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $delay := include "injector.text" $.Values.shutdownDelayDuration -}}
{{- $grace := include "injector.text" $.Values.minTerminationGracePeriodSeconds -}}
{{- $isDelay := and (regexMatch "^(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+$" $delay) (lt (len $delay) 40) -}}
{{- $isGrace := and (regexMatch "^[1-9][0-9]{0,6}$" $grace) (le (int64 $grace) 2000000) -}}
{{- if regexMatch "^[0-9]+$" $delay -}}
{{- include "injector.refuse" (list $problems "shutdownDelayDuration" $delay "must be a duration with its unit" (printf "did you mean %ss?" $delay)) -}}
{{- else if not $isDelay -}}
{{- include "injector.refuse" (list $problems "shutdownDelayDuration" $.Values.shutdownDelayDuration "must be a duration such as 10s or 1m30s" "correct it, or leave it out for 10s") -}}
{{- end -}}
{{- if not $isGrace -}}
{{- include "injector.refuse" (list $problems "minTerminationGracePeriodSeconds" $.Values.minTerminationGracePeriodSeconds "must be a whole number of seconds from 1 to 2000000, without a unit" "correct it, or leave it out for 30") -}}
{{- end -}}
{{- if and $isDelay $isGrace -}}
{{- /* Helm 3 has no function that parses a duration. To get the seconds of the delay, add the delay to a date, and
subtract the date from the sum. */ -}}
{{- $date := toDate "2006-01-02" "2000-01-01" -}}
{{- $seconds := sub ($date | dateModify $delay | unixEpoch) ($date | unixEpoch) -}}
{{- $least := add (max $seconds 5) 1 3 2 -}}
{{- if lt (int64 $grace) $least -}}
{{- include "injector.refuse" (list $problems "minTerminationGracePeriodSeconds" $grace (printf "must be at least max(shutdownDelayDuration %s, pre-shutdown hooks 5s) + requests 1s + destroy hooks 3s + reserve 2s = %d" $delay $least) "raise it, or shorten shutdownDelayDuration") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "injector.refuseChoices" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- if not (kindIs "bool" $.Values.allPods) -}}
{{- include "injector.refuse" (list $problems "allPods" $.Values.allPods "must be true or false" "correct it, or leave it out for false") -}}
{{- end -}}
{{- if not (has (include "injector.text" $.Values.preStopHook) (list "auto" "always" "never")) -}}
{{- include "injector.refuse" (list $problems "preStopHook" $.Values.preStopHook "must be auto, always or never" "correct it, or leave it out for auto") -}}
{{- end -}}
{{- $delivery := include "injector.text" $.Values.delivery -}}
{{- if not (has $delivery (list "" "imageVolume" "initContainer")) -}}
{{- include "injector.refuse" (list $problems "delivery" $.Values.delivery "must be imageVolume or initContainer" "correct it, or leave it out") -}}
{{- else if and (eq $delivery "imageVolume") (ne (include "injector.isNew" $) "yes") -}}
{{- include "injector.refuse" (list $problems "delivery" $delivery (printf "an image volume needs Kubernetes 1.36, and the cluster has %s. An older version may drop the volume and keep NODE_OPTIONS, and then no pod would start" $.Capabilities.KubeVersion.Version) "set initContainer, or leave it out") -}}
{{- end -}}
{{- end -}}
