{{/* Rejects invalid rollouts, replicas and disruption budgets. */}}

{{/* The argument is a number of pods or a percentage. Returns `yes` for 0 and 0%, and otherwise an empty text. */}}
{{- define "lameduck.isNone" -}}
{{- if regexMatch "^0+%?$" (include "lameduck.text" .) -}}yes{{- end -}}
{{- end -}}

{{/* Returns the smallest number of replicas that the Deployment can have. */}}
{{- define "lameduck.leastReplicas" -}}
{{- if .Values.autoscaling.enabled -}}
{{- int64 .Values.autoscaling.minReplicas -}}
{{- else if kindIs "invalid" .Values.replicaCount -}}
2
{{- else -}}
{{- int64 .Values.replicaCount -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseRollout" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- $isRolling := eq $v.strategy.type "RollingUpdate" -}}
{{- $mayLack := not (include "lameduck.isNone" $v.strategy.maxUnavailable) -}}
{{- if and (not $isRolling) (not $v.strategy.allowDowntime) -}}
{{- include "lameduck.refuse" (list $problems "strategy.type" $v.strategy.type "must be RollingUpdate: every other strategy ends the old pods before new ones serve" "leave it out, or set strategy.allowDowntime") -}}
{{- end -}}
{{- if and $isRolling $mayLack (not $v.strategy.allowDowntime) -}}
{{- include "lameduck.refuse" (list $problems "strategy.maxUnavailable" $v.strategy.maxUnavailable "must be 0: a rollout would otherwise remove pods before their replacements are ready" "leave it out and raise strategy.maxSurge for faster rollouts, or set strategy.allowDowntime") -}}
{{- end -}}
{{- if and $isRolling (not $mayLack) (include "lameduck.isNone" $v.strategy.maxSurge) -}}
{{- include "lameduck.refuse" (list $problems "strategy.maxSurge" $v.strategy.maxSurge "must not be 0 when maxUnavailable is 0: a rollout could neither add nor remove a pod" "set it to 1 or more") -}}
{{- end -}}
{{- $probe := $v.probes.startup -}}
{{- with $v.startupProbe -}}{{- $probe = merge dict . (dict "initialDelaySeconds" 0 "periodSeconds" 10 "failureThreshold" 3) -}}{{- end -}}
{{- $startup := add (int64 $probe.initialDelaySeconds) (mul (int64 $probe.periodSeconds) (int64 $probe.failureThreshold)) -}}
{{- $least := add $startup (int64 $v.minReadySeconds) 60 -}}
{{- if lt (int64 $v.progressDeadlineSeconds) $least -}}
{{- include "lameduck.refuse" (list $problems "progressDeadlineSeconds" $v.progressDeadlineSeconds (printf "must be at least the startup probe's initialDelaySeconds + periodSeconds x failureThreshold + minReadySeconds + 60 (%d), or a slow start is reported as a failed rollout" $least) "raise it, or shorten the startup probe") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseReplicas" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- $least := include "lameduck.leastReplicas" $ | int64 -}}
{{- $path := ternary "autoscaling.minReplicas" "replicaCount" $v.autoscaling.enabled -}}
{{- if lt $least 1 -}}
{{- include "lameduck.refuse" (list $problems $path $least "must be at least 1: without a pod, no request is answered" "set it to 2 or more") -}}
{{- else if and (lt $least 2) (not $v.allowSingleReplica) -}}
{{- include "lameduck.refuse" (list $problems $path $least "must be at least 2: a single pod causes an outage whenever it ends" "raise it, or set allowSingleReplica") -}}
{{- end -}}
{{- if and $v.autoscaling.enabled (gt $least (int64 $v.autoscaling.maxReplicas)) -}}
{{- include "lameduck.refuse" (list $problems "autoscaling.maxReplicas" $v.autoscaling.maxReplicas (printf "must not be below autoscaling.minReplicas (%d)" $least) "raise it") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseDisruption" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $pdb := $.Values.podDisruptionBudget -}}
{{- if not (or $pdb.enabled $pdb.allowNone) -}}
{{- include "lameduck.refuse" (list $problems "podDisruptionBudget.enabled" false "without a PodDisruptionBudget, draining several nodes may remove all pods at once" "leave it out, or set podDisruptionBudget.allowNone") -}}
{{- end -}}
{{- if $pdb.enabled -}}
{{- $hasLeast := eq (include "lameduck.isGiven" $pdb.minAvailable) "yes" -}}
{{- $hasMost := eq (include "lameduck.isGiven" $pdb.maxUnavailable) "yes" -}}
{{- if and $hasLeast $hasMost -}}
{{- include "lameduck.refuse" (list $problems "podDisruptionBudget" (dict "maxUnavailable" $pdb.maxUnavailable "minAvailable" $pdb.minAvailable) "must not have both maxUnavailable and minAvailable" "leave one of them out") -}}
{{- else if $hasMost -}}
{{- if include "lameduck.isNone" $pdb.maxUnavailable -}}
{{- include "lameduck.refuse" (list $problems "podDisruptionBudget.maxUnavailable" $pdb.maxUnavailable "must not be 0: a node with a pod of this release could never be drained" "set it to 1 or more") -}}
{{- end -}}
{{- else if $hasLeast -}}
{{- $text := include "lameduck.text" $pdb.minAvailable -}}
{{- $least := include "lameduck.leastReplicas" $ | int64 -}}
{{- $kept := regexReplaceAll "^0+([0-9])" (trimSuffix "%" $text) "${1}" | int64 -}}
{{- /* Kubernetes converts the percentage `minAvailable` to a number of pods and rounds up. If the chart values do not
set the number of pods, the chart rejects only a percentage of 100 or more. */ -}}
{{- $isShare := hasSuffix "%" $text -}}
{{- $isScaled := and (kindIs "invalid" $.Values.replicaCount) (not $.Values.autoscaling.enabled) -}}
{{- $of := ternary 100 $least (and $isShare $isScaled) | int64 -}}
{{- if $isShare -}}{{- $kept = div (add (mul $kept $of) 99) 100 -}}{{- end -}}
{{- if ge $kept $of -}}
{{- include "lameduck.refuse" (list $problems "podDisruptionBudget.minAvailable" $pdb.minAvailable (printf "must be below the least number of replicas (%d): a node with a pod of this release could never be drained" $least) "lower it, or set maxUnavailable instead") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
