{{/* Rejects invalid values of `leaderElection`. */}}

{{- define "lameduck.refuseElection" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}{{- $e := $v.leaderElection -}}
{{- range $name, $kind := merge (include "lameduck.electionKinds" . | fromYaml) (dict "leaseName" "Lease") -}}
{{- $value := get $e $name -}}
{{- if include "lameduck.isGiven" $value -}}
{{- with include "lameduck.allowed" (list $kind $value) | trim -}}
{{- include "lameduck.refuse" (list $problems (printf "leaderElection.%s" $name) $value (printf "must be %s" .) "correct it, or leave it out for the default") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $lease := include "lameduck.term" (list $e.leaseDuration "15s") | int64 -}}
{{- $renew := include "lameduck.term" (list $e.renewDeadline "10s") | int64 -}}
{{- $retry := include "lameduck.term" (list $e.retryPeriod "2s") | int64 -}}
{{- if le $lease $renew -}}
{{- include "lameduck.refuse" (list $problems "leaderElection.leaseDuration" (include "lameduck.duration" $lease) (printf "must be greater than leaderElection.renewDeadline (%s): the leader needs the difference to stop its work" (include "lameduck.duration" $renew)) "raise it, or lower leaderElection.renewDeadline") -}}
{{- end -}}
{{- if le (mul $renew 10) (mul $retry 12) -}}
{{- include "lameduck.refuse" (list $problems "leaderElection.renewDeadline" (include "lameduck.duration" $renew) (printf "must be greater than 1.2 times leaderElection.retryPeriod (%s)" (include "lameduck.duration" $retry)) "raise it, or lower leaderElection.retryPeriod") -}}
{{- end -}}
{{- if $e.enabled -}}
{{- if eq (include "lameduck.serviceAccountName" $) "default" -}}
{{- include "lameduck.refuse" (list $problems "serviceAccount.name" $v.serviceAccount.name "every pod without its own ServiceAccount uses default, and would be allowed to take the Lease" "name another ServiceAccount, or set serviceAccount.create") -}}
{{- end -}}
{{- if and $v.networkPolicy.enabled (not $v.networkPolicy.egress) -}}
{{- include "lameduck.refuse" (list $problems "networkPolicy.egress" $v.networkPolicy.egress "must allow connections to the API server: without them, no pod can become the leader" "add the addresses and the port of the API server's endpoints") -}}
{{- end -}}
{{- end -}}
{{- end -}}
