{{/* Rejects invalid chart values for names, images, HTTPRoutes, GRPCRoutes, PodMonitors and ServiceMonitors. */}}

{{/* Adds a problem for each name that occurs twice in a list. Arguments: (list problems path names rule). */}}
{{- define "lameduck.refuseDuplicates" -}}
{{- $problems := index . 0 -}}{{- $path := index . 1 -}}{{- $names := index . 2 -}}{{- $rule := index . 3 -}}
{{- $seen := dict -}}
{{- range $name := $names -}}
{{- if hasKey $seen $name -}}
{{- include "lameduck.refuse" (list $problems $path $name $rule "remove one, or change it") -}}
{{- end -}}
{{- $_ := set $seen $name true -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseNames" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- /* The environment variables that the chart itself sets, which `env` and `extraEnv` must not contain. Each is mapped
to the chart value with which the user can change the variable, or to an empty text if there is none. */ -}}
{{- $own := dict "PORT" "containerPort" "POD_NAME" "" "POD_NAMESPACE" "" "NODE_NAME" "" -}}
{{- if $v.leaderElection.enabled -}}{{- $_ := set $own "LEASE_NAME" "leaderElection.leaseName" -}}{{- end -}}
{{- $given := list -}}
{{- range $name, $value := $v.env -}}{{- if not (kindIs "invalid" $value) -}}{{- $given = append $given $name -}}{{- end -}}{{- end -}}
{{- range $v.extraEnv -}}{{- $given = append $given .name -}}{{- end -}}
{{- range $name := $given -}}
{{- if hasPrefix "LAMEDUCK_" $name -}}
{{- include "lameduck.refuse" (list $problems "env, extraEnv" $name "settings belong in the block lameduck, because the chart computes the grace period from them" "set lameduck.<option> instead") -}}
{{- else if hasKey $own $name -}}
{{- $instead := get $own $name -}}
{{- include "lameduck.refuse" (list $problems "env, extraEnv" $name "the chart sets this variable" (ternary (printf "set %s instead" $instead) "leave it out" (ne $instead ""))) -}}
{{- end -}}
{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "env, extraEnv" $given "the container would have this variable twice") -}}
{{- $volumes := ternary (list "tmp") list (eq (include "lameduck.mountsTmp" $) "yes") -}}
{{- if include "lameduck.injects" $ -}}{{- $volumes = append $volumes "lameduck" -}}{{- end -}}
{{- if include "lameduck.mountsRunFolder" $ -}}{{- $volumes = append $volumes "run-lameduck" -}}{{- end -}}
{{- range $v.extraVolumes -}}{{- $volumes = append $volumes .name -}}{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "extraVolumes" $volumes "the pod would have this volume twice") -}}
{{- $mounts := ternary (list "/tmp") list (eq (include "lameduck.mountsTmp" $) "yes") -}}
{{- if include "lameduck.injects" $ -}}{{- $mounts = append $mounts (include "lameduck.injectedFolder" $) -}}{{- end -}}
{{- if include "lameduck.mountsRunFolder" $ -}}{{- $mounts = append $mounts (include "lameduck.runFolder" $) -}}{{- end -}}
{{- range $v.extraVolumeMounts -}}{{- $mounts = append $mounts .mountPath -}}{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "extraVolumeMounts" $mounts "the container would have two volumes at this path") -}}
{{- if eq (include "lameduck.probePort" $) (toString (int64 $v.containerPort)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probePort" $v.lameduck.probePort "must not be containerPort, because a separate thread listens on the probe port" "choose another port") -}}
{{- end -}}
{{- $ports := list "http" "probes" -}}{{- range $v.extraPorts -}}{{- $ports = append $ports .name -}}{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "extraPorts" $ports "the container would have this port twice") -}}
{{- if $v.service.publishNotReadyAddresses -}}
{{- include "lameduck.refuse" (list $problems "service.publishNotReadyAddresses" true "terminating pods would stay in the Service" "leave it out") -}}
{{- end -}}
{{- end -}}

{{/* Rejects labels in the chart values that the chart itself sets. In `podLabels`, these are the labels of the
selector. On every other object, the chart sets more labels. */}}
{{- define "lameduck.refuseLabels" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- $selector := include "lameduck.selectorLabels" $ | fromYaml -}}
{{- $own := include "lameduck.ownLabels" $ | fromYaml -}}
{{- $given := dict "podLabels" $v.podLabels "commonLabels" $v.commonLabels -}}
{{- range list "serviceAccount" "service" "ingress" "httpRoute" "grpcRoute" "podMonitor" "serviceMonitor" "prometheusRule" "logRules" "dashboard" -}}
{{- $_ := set $given (printf "%s.labels" .) (get $v .).labels -}}
{{- end -}}
{{- range $path, $labels := $given -}}
{{- range $label, $value := default dict $labels -}}
{{- if hasKey $selector $label -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.%s" $path $label) $value "the selector of the Deployment has this label" "choose another label, or set nameOverride") -}}
{{- else if and (ne $path "podLabels") (hasKey $own $label) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.%s" $path $label) $value "the chart itself sets this label on every object" "choose another label") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns a port of a container, such as `53/UDP`, or without a protocol for TCP. Two protocols can have the same port
number. */}}
{{- define "lameduck.portOf" -}}
{{- include "lameduck.text" .containerPort -}}{{- with .protocol -}}{{- if ne . "TCP" -}}/{{ . }}{{- end -}}{{- end -}}
{{- end -}}

{{/* Rejects names and ports that two containers would share. An init container ends before the other containers start, so
its ports count only if it is a sidecar. */}}
{{- define "lameduck.refuseContainers" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- $names := ternary (list "server" "lameduck") (list "server") (eq (include "lameduck.injects" $) "yes") -}}
{{- range concat (default list $v.initContainers) (default list $v.extraContainers) -}}{{- $names = append $names .name -}}{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "initContainers, extraContainers" $names "the pod would have this container twice") -}}
{{- $ports := list (toString (int64 $v.containerPort)) (include "lameduck.probePort" $) | compact | uniq -}}
{{- range $v.extraPorts -}}{{- $ports = append $ports (include "lameduck.portOf" .) -}}{{- end -}}
{{- $others := default list $v.extraContainers -}}
{{- range $v.initContainers -}}{{- if eq (toString .restartPolicy) "Always" -}}{{- $others = append $others . -}}{{- end -}}{{- end -}}
{{- range $others -}}
{{- range .ports -}}{{- $ports = append $ports (include "lameduck.portOf" .) -}}{{- end -}}
{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "extraPorts, initContainers, extraContainers" $ports "two containers of the pod would listen on this port") -}}
{{- end -}}

{{- define "lameduck.refuseImage" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $image := $.Values.image -}}
{{- if $image.digest -}}
{{- if not (regexMatch "^sha256:[0-9a-f]{64}$" $image.digest) -}}
{{- include "lameduck.refuse" (list $problems "image.digest" $image.digest "must be sha256: and 64 hexadecimal digits" "copy it from the registry") -}}
{{- end -}}
{{- else if has (include "lameduck.text" $image.tag) (list "" "latest") -}}
{{- include "lameduck.refuse" (list $problems "image.tag" $image.tag "must name one image if there is no digest: with an empty or moving tag, the pods of one rollout could run different images" "set image.digest, or a tag that always names the same image") -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseRoutes" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- range $name := list "ingress" "httpRoute" "grpcRoute" -}}
{{- if and (get $v $name).enabled (not $v.service.enabled) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.enabled" $name) true "the route leads to the Service, but service.enabled is false" "set service.enabled") -}}
{{- end -}}
{{- end -}}
{{- if and $v.service.externalTrafficPolicy (eq $v.service.type "ClusterIP") -}}
{{- include "lameduck.refuse" (list $problems "service.externalTrafficPolicy" $v.service.externalTrafficPolicy "a Service of type ClusterIP gets no traffic from outside the cluster" "leave it out, or set service.type") -}}
{{- end -}}
{{- $l := $v.lameduck -}}
{{- $b := include "lameduck.times" $ | fromJson -}}
{{- if and (eq $l.front "aws") $v.ingress.enabled (or (lt (int64 $b.idle) 1000) (gt (int64 $b.idle) 4000000)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.frontIdleTimeout" $l.frontIdleTimeout "must be from 1s to 4000s: an ALB accepts no other idle timeout" "correct it, or leave it out for 60s") -}}
{{- end -}}
{{- $attributes := get (default dict $v.ingress.annotations) "alb.ingress.kubernetes.io/target-group-attributes" -}}
{{- $drain := regexFind "deregistration_delay[.]timeout_seconds=[0-9]+" (nospace $attributes) -}}
{{- if and (eq $l.front "aws") $v.ingress.enabled $drain (lt (mul (regexFind "[0-9]+$" $drain | int64) 1000) (int64 $b.longest)) -}}
{{- include "lameduck.refuse" (list $problems "ingress.annotations" $drain (printf "must not be shorter than lameduck.longestRequestDuration (%s), or the ALB cuts requests that the pod still answers" (include "lameduck.duration" $b.longest)) "leave this attribute out, so that the chart sets it, or lower lameduck.longestRequestDuration") -}}
{{- end -}}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) -}}
{{- include "lameduck.refuse" (list $problems "ingress.hosts" $v.ingress.hosts "must name at least one host, because an Ingress without a host routes no request" "add a host") -}}
{{- end -}}
{{- range $name := list "httpRoute" "grpcRoute" -}}
{{- $route := get $v $name -}}
{{- if and $route.enabled (not $route.parentRefs) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.parentRefs" $name) $route.parentRefs "must name a Gateway, because a route without a Gateway serves no request" "add a Gateway") -}}
{{- end -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.allowLongTimeout) -}}
{{- range $rule := prepend (default list $v.httpRoute.rules) $v.httpRoute -}}
{{- range $name := list "request" "backendRequest" -}}
{{- $timeout := get (default dict $rule.timeouts) $name -}}
{{- if gt (include "lameduck.term" (list $timeout "0") | int64) (int64 $b.longest) -}}
{{- include "lameduck.refuse" (list $problems (printf "httpRoute.timeouts.%s" $name) $timeout (printf "must not be longer than lameduck.longestRequestDuration (%s): the drain cuts requests for which the Gateway still waits" (include "lameduck.duration" $b.longest)) "lower it, raise lameduck.longestRequestDuration, or set httpRoute.allowLongTimeout") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq $l.front "none") (not $l.allowUnknownFront) -}}
{{- range $name := list "ingress" "httpRoute" "grpcRoute" -}}
{{- if (get $v $name).enabled -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.enabled" $name) true "requests come through a load balancer or proxy, but lameduck.front is none" "name the load balancer or proxy in lameduck.front, or set lameduck.allowUnknownFront") -}}
{{- end -}}
{{- end -}}
{{- if and (eq (toString $v.service.externalTrafficPolicy) "Local") (ne $v.service.type "ClusterIP") -}}
{{- include "lameduck.refuse" (list $problems "service.externalTrafficPolicy" "Local" "with Local, a load balancer needs time to notice that a node has no pod left, but lameduck.front is none" "name the load balancer or proxy in lameduck.front, or set lameduck.allowUnknownFront and a lameduck.shutdownDelayDuration that is longer") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseMonitors" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- if and $v.podMonitor.enabled $v.serviceMonitor.enabled -}}
{{- include "lameduck.refuse" (list $problems "serviceMonitor.enabled" true "podMonitor is enabled too, and every pod would be scraped twice" "disable one of them") -}}
{{- end -}}
{{- range $name := list "podMonitor" "serviceMonitor" -}}
{{- $monitor := get $v $name -}}
{{- if $monitor.enabled -}}
{{- if and (include "lameduck.isOn" $) (not (include "lameduck.probePort" $)) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.enabled" $name) true "metrics are scraped at lameduck.probePort, which is off" "set lameduck.probePort") -}}
{{- end -}}
{{- $unread := list -}}
{{- range $field := list "interval" "scrapeTimeout" -}}
{{- if not (regexMatch "^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$" (get $monitor $field | default "none")) -}}
{{- $unread = append $unread $field -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.%s" $name $field) (get $monitor $field) "Prometheus accepts a duration of whole numbers with the units h, m, s and ms, in this order" "write it as 15s or 1m30s") -}}
{{- end -}}
{{- end -}}
{{- if not $unread -}}
{{- $interval := include "lameduck.milliseconds" $monitor.interval | default "0" | int64 -}}
{{- $timeout := include "lameduck.milliseconds" $monitor.scrapeTimeout | default "0" | int64 -}}
{{- if lt $interval 1000 -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.interval" $name) $monitor.interval "must be at least 1s" "raise it") -}}
{{- end -}}
{{- if or (lt $timeout 1) (gt $timeout $interval) -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.scrapeTimeout" $name) $monitor.scrapeTimeout (printf "must be a duration of at most interval (%s)" $monitor.interval) (ternary "raise it" "shorten it" (lt $timeout 1))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Rejects proxies in extraContainers, which get SIGTERM at the same time as the server. A native sidecar exits after the
server. */}}
{{- define "lameduck.refuseSidecarProxies" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- if not $.Values.allowSidecarProxies -}}
{{- range $.Values.extraContainers -}}
{{- /* Compares only the last part of an image's name with the names of proxies, because the registry and the folders do
not identify a program. A container whose name contains `exporter` is not a proxy: it exports the metrics of a proxy. */
-}}
{{- $names := printf "%s %s" .name (regexReplaceAll "^.*/" (toString .image) "") -}}
{{- if and (regexMatch "(?i)(^|[^a-z])(envoy|[a-z]*proxy(v2)?|linkerd|nginx|traefik|caddy|pgbouncer|daprd)([^a-z]|$)" $names) (not (contains "exporter" $names)) -}}
{{- include "lameduck.refuse" (list $problems "extraContainers" .name "is a proxy, which exits at SIGTERM while the server still needs it" "move it to initContainers with restartPolicy: Always, or set allowSidecarProxies") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
