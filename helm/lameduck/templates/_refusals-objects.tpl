{{/* What is refused of names, images, routes and monitors. */}}

{{/* Refuses each name that a list has twice: (list problems path names rule). */}}
{{- define "lameduck.refuseDuplicates" -}}
{{- $problems := index . 0 -}}{{- $path := index . 1 -}}{{- $names := index . 2 -}}{{- $rule := index . 3 -}}
{{- $seen := dict -}}
{{- range $name := $names -}}
{{- if hasKey $seen $name -}}
{{- include "lameduck.refuse" (list $problems $path $name $rule "remove one, or rename it") -}}
{{- end -}}
{{- $_ := set $seen $name true -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseNames" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- $own := list "PORT" "POD_NAME" "POD_NAMESPACE" "NODE_NAME" -}}
{{- $given := keys (default dict $v.env) | sortAlpha -}}
{{- range $v.extraEnv -}}{{- $given = append $given .name -}}{{- end -}}
{{- range $name := $given -}}
{{- if hasPrefix "LAMEDUCK_" $name -}}
{{- include "lameduck.refuse" (list $problems "env, extraEnv" $name "the settings come from the block lameduck alone, where they are part of one sum" "set lameduck.<option> instead") -}}
{{- end -}}
{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "env, extraEnv" (concat $own $given) "the container would have this variable twice") -}}
{{- $volumes := ternary (list "tmp" "lameduck") (list "tmp") $v.inject.enabled -}}{{- range $v.extraVolumes -}}{{- $volumes = append $volumes .name -}}{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "extraVolumes" $volumes "the pod would have this volume twice") -}}
{{- $mounts := ternary (list "/tmp" (include "lameduck.injectedFolder" $)) (list "/tmp") $v.inject.enabled -}}{{- range $v.extraVolumeMounts -}}{{- $mounts = append $mounts .mountPath -}}{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "extraVolumeMounts" $mounts "the container would have two volumes at this path") -}}
{{- if eq (include "lameduck.probePort" $) (toString (int64 $v.containerPort)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probePort" $v.lameduck.probePort "must not be containerPort: a thread of its own listens on it" "choose another one") -}}
{{- end -}}
{{- $selector := include "lameduck.selectorLabels" $ | fromYaml -}}
{{- range $path := list "podLabels" "commonLabels" -}}
{{- range $label, $value := default dict (get $v $path) -}}
{{- if hasKey $selector $label -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.%s" $path $label) $value "the selector has this label" "choose another one, or set nameOverride") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $v.service.publishNotReadyAddresses -}}
{{- include "lameduck.refuse" (list $problems "service.publishNotReadyAddresses" true "pods that end would stay in the Service" "leave it out") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseImage" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $image := $.Values.image -}}
{{- if $image.digest -}}
{{- if not (regexMatch "^sha256:[0-9a-f]{64}$" $image.digest) -}}
{{- include "lameduck.refuse" (list $problems "image.digest" $image.digest "must be sha256: and 64 hexadecimal digits" "copy it from the registry") -}}
{{- end -}}
{{- else if has (toString $image.tag) (list "" "latest") -}}
{{- include "lameduck.refuse" (list $problems "image.tag" $image.tag "without a digest the tag must say which image: the pods of one rollout could run different ones" "set image.digest, or a tag that never moves") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseRoutes" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- range $name := list "ingress" "httpRoute" -}}
{{- if and (get $v $name).enabled (not $v.service.enabled) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.enabled" $name) true "it routes to the Service, which is switched off" "set service.enabled") -}}
{{- end -}}
{{- end -}}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) -}}
{{- include "lameduck.refuse" (list $problems "ingress.hosts" $v.ingress.hosts "must name at least one host: nothing would be routed" "add one") -}}
{{- end -}}
{{- if $v.ingress.enabled -}}
{{- range $v.ingress.tls -}}
{{- if not .hosts -}}
{{- include "lameduck.refuse" (list $problems "ingress.tls" . "must name its hosts" "add them") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) -}}
{{- include "lameduck.refuse" (list $problems "httpRoute.parentRefs" $v.httpRoute.parentRefs "must name a Gateway: no Gateway would take the route" "add one") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseMonitors" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- if and $v.podMonitor.enabled $v.serviceMonitor.enabled -}}
{{- include "lameduck.refuse" (list $problems "serviceMonitor.enabled" true "podMonitor is on as well, and every pod would be scraped twice" "switch one of them off") -}}
{{- end -}}
{{- $b := include "lameduck.budget" $ | fromJson -}}
{{- range $name := list "podMonitor" "serviceMonitor" -}}
{{- $monitor := get $v $name -}}
{{- if $monitor.enabled -}}
{{- if not (include "lameduck.probePort" $) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.enabled" $name) true "metrics are scraped at lameduck.probePort, which is off" "set lameduck.probePort") -}}
{{- end -}}
{{- $interval := include "lameduck.milliseconds" $monitor.interval | default "0" | int64 -}}
{{- $timeout := include "lameduck.milliseconds" $monitor.scrapeTimeout | default "0" | int64 -}}
{{- if or (lt $interval 1000) (gt $interval (add (int64 $b.delay) (int64 $b.longest))) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.interval" $name) $monitor.interval "must be a duration from 1s to shutdownDelayDuration + longestRequestDuration, or a drain ends unseen" "shorten it") -}}
{{- end -}}
{{- if or (lt $timeout 1) (gt $timeout $interval) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.scrapeTimeout" $name) $monitor.scrapeTimeout (printf "must be a duration of at most interval (%s)" $monitor.interval) "shorten it") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
