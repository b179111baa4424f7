{{/* Rejects chart values that contain a field which the chart itself sets in the same Kubernetes object. Also rejects
fields of a Service that the API server does not accept together. */}}

{{/* Returns each field that the chart sets, and the value to set instead, if there is one. */}}
{{- define "lameduck.ownFields" -}}
extraPodSpec:
  affinity: affinity
  automountServiceAccountToken: serviceAccount.automount
  containers: extraContainers
  dnsConfig: dnsConfig
  dnsPolicy: dnsPolicy
  enableServiceLinks: ''
  hostAliases: hostAliases
  hostNetwork: hostNetwork
  imagePullSecrets: imagePullSecrets
  initContainers: initContainers
  nodeSelector: nodeSelector
  priorityClassName: priorityClassName
  readinessGates: readinessGates
  runtimeClassName: runtimeClassName
  schedulerName: schedulerName
  securityContext: podSecurityContext
  serviceAccountName: serviceAccount.name
  terminationGracePeriodSeconds: lameduck.longestRequestDuration
  tolerations: tolerations
  topologySpreadConstraints: topologySpreadConstraints
  volumes: extraVolumes
extraContainerSpec:
  args: args
  command: command
  env: env
  envFrom: extraEnvFrom
  image: image
  imagePullPolicy: image.pullPolicy
  lifecycle: lifecycle
  livenessProbe: livenessProbe
  name: ''
  ports: extraPorts
  readinessProbe: readinessProbe
  resources: resources
  securityContext: securityContext
  startupProbe: startupProbe
  terminationMessagePath: lameduck.terminationMessagePath
  terminationMessagePolicy: ''
  volumeMounts: extraVolumeMounts
{{- end -}}

{{- define "lameduck.refuseFields" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- if include "lameduck.isGiven" $v.terminationGracePeriodSeconds -}}
{{- include "lameduck.refuse" (list $problems "terminationGracePeriodSeconds" $v.terminationGracePeriodSeconds (printf "the chart computes it: %s" (include "lameduck.sum" $)) "leave it out, and set lameduck.longestRequestDuration") -}}
{{- end -}}
{{- range $value, $fields := include "lameduck.ownFields" $ | fromYaml -}}
{{- range $field, $given := default dict (get $v $value) -}}
{{- if hasKey $fields $field -}}
{{- $instead := get $fields $field -}}
{{- include "lameduck.refuse" (list $problems (printf "%s.%s" $value $field) $given "the chart sets this field" (ternary (printf "set %s instead" $instead) "leave it out" (ne $instead ""))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseService" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $s := $.Values.service -}}
{{- if eq $s.type "ClusterIP" -}}
{{- with $s.nodePort -}}
{{- include "lameduck.refuse" (list $problems "service.nodePort" . "a Service of type ClusterIP has no port on the nodes" "leave it out, or set service.type") -}}
{{- end -}}
{{- else if eq (toString $s.clusterIP) "None" -}}
{{- include "lameduck.refuse" (list $problems "service.clusterIP" "None" (printf "a Service of type %s needs an address" $s.type) "leave it out, or set service.type to ClusterIP") -}}
{{- end -}}
{{- if and $s.loadBalancerClass (ne $s.type "LoadBalancer") -}}
{{- include "lameduck.refuse" (list $problems "service.loadBalancerClass" $s.loadBalancerClass (printf "a Service of type %s has no load balancer" $s.type) "leave it out, or set service.type to LoadBalancer") -}}
{{- end -}}
{{- if and $s.sessionAffinityConfig (ne (toString $s.sessionAffinity) "ClientIP") -}}
{{- include "lameduck.refuse" (list $problems "service.sessionAffinityConfig" $s.sessionAffinityConfig "has no effect without service.sessionAffinity ClientIP" "set service.sessionAffinity to ClientIP, or leave this value out") -}}
{{- end -}}
{{- $ports := list (include "lameduck.text" $s.port) -}}
{{- range $.Values.extraPorts -}}
{{- if .servicePort -}}{{- $ports = append $ports (include "lameduck.portOf" (dict "containerPort" .servicePort "protocol" .protocol)) -}}{{- end -}}
{{- end -}}
{{- include "lameduck.refuseDuplicates" (list $problems "service.port, extraPorts" $ports "the Service would have this port twice") -}}
{{- $grpc := $.Values.grpcRoute -}}
{{- if and $grpc.enabled $grpc.port (not (has (include "lameduck.text" $grpc.port) $ports)) -}}
{{- include "lameduck.refuse" (list $problems "grpcRoute.port" $grpc.port "is no port of the Service, so the route would lead nowhere" "leave it out for service.port, or set it to a servicePort in extraPorts") -}}
{{- end -}}
{{- range $.Values.extraPorts -}}
{{- if and .nodePort (or (eq $s.type "ClusterIP") (not .servicePort)) -}}
{{- include "lameduck.refuse" (list $problems "extraPorts" (dict "name" .name "nodePort" (int64 .nodePort)) "a nodePort needs a servicePort, and a service.type other than ClusterIP" "add them, or leave nodePort out") -}}
{{- end -}}
{{- end -}}
{{- end -}}
