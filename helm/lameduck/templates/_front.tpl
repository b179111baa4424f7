{{/* Annotations for load balancers: how to probe for readiness, and how long requests of a removed pod may take to finish.
Annotations in the values override them. */}}

{{/* Returns the port that a load balancer probes for readiness. */}}
{{- define "lameduck.healthCheckPort" -}}
{{- include "lameduck.probePort" . | default (.Values.containerPort | int64 | toString) -}}
{{- end -}}

{{/* Returns the path that a load balancer probes for readiness. If `lameduck.enabled` is false, no process answers the
path of the readiness probe. Health checks that can probe by TCP then only open a connection. All other health checks
request `/`. An ALB accepts every status below 500, but the health check of a BackendConfig accepts only 200. */}}
{{- define "lameduck.healthCheckPath" -}}
{{- ternary .Values.probes.readiness.path "/" (eq (include "lameduck.isOn" .) "yes") -}}
{{- end -}}

{{/* Returns the value of an annotation that is a list of attributes `key=value`. Arguments: (list annotations name key
value), where `name` is the name of the annotation. Adds `key=value` unless the user's annotation already contains the
key. */}}
{{- define "lameduck.attributes" -}}
{{- $given := get (default dict (index . 0)) (index . 1) -}}
{{- $own := printf "%s=%d" (index . 2) (int64 (index . 3)) -}}
{{- if contains (printf ",%s=" (index . 2)) (printf ",%s" (nospace $given)) -}}
{{- $given -}}
{{- else -}}
{{- join "," (compact (list $given $own)) -}}
{{- end -}}
{{- end -}}

{{/* Returns as JSON the annotations that the chart sets. Arguments: (list own given), where `given` are the annotations
in the Helm values. An annotation in `given` replaces the chart's annotation of the same name, even if its text is
empty. The exception is a list of load balancer attributes: the chart's list already contains the attributes of `given`.
*/}}
{{- define "lameduck.annotations" -}}
{{- $all := index . 0 -}}
{{- range $name, $value := default dict (index . 1) -}}
{{- if not (and (hasSuffix "-attributes" $name) (hasKey $all $name)) -}}{{- $_ := set $all $name $value -}}{{- end -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{/* Annotations of the Service. The load balancer checks a pod every 5 s and removes it after two failures. This takes less
time than the shortest shutdown delay that the chart accepts. */}}
{{- define "lameduck.serviceAnnotations" -}}
{{- $b := include "lameduck.times" . | fromJson -}}
{{- $l := .Values.lameduck -}}
{{- if and (eq $l.front "aws") (eq .Values.service.type "LoadBalancer") }}
service.beta.kubernetes.io/aws-load-balancer-type: external
service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: ip
service.beta.kubernetes.io/aws-load-balancer-target-group-attributes: {{ include "lameduck.attributes" (list .Values.service.annotations "service.beta.kubernetes.io/aws-load-balancer-target-group-attributes" "deregistration_delay.timeout_seconds" $b.frontDrainSeconds) | quote }}
{{- if include "lameduck.isOn" . }}
service.beta.kubernetes.io/aws-load-balancer-healthcheck-protocol: http
service.beta.kubernetes.io/aws-load-balancer-healthcheck-path: {{ include "lameduck.healthCheckPath" . | quote }}
{{- else }}
service.beta.kubernetes.io/aws-load-balancer-healthcheck-protocol: tcp
{{- end }}
service.beta.kubernetes.io/aws-load-balancer-healthcheck-port: {{ include "lameduck.healthCheckPort" . | quote }}
service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval: "5"
service.beta.kubernetes.io/aws-load-balancer-healthcheck-timeout: "2"
service.beta.kubernetes.io/aws-load-balancer-healthcheck-unhealthy-threshold: "2"
{{- end }}
{{- if and (eq $l.front "gce") .Values.ingress.enabled }}
cloud.google.com/neg: '{"ingress": true}'
cloud.google.com/backend-config: '{"default": "{{ include "lameduck.fullname" . }}"}'
{{- end }}
{{- end -}}

{{- define "lameduck.ingressAnnotations" -}}
{{- $b := include "lameduck.times" . | fromJson -}}
{{- if eq .Values.lameduck.front "aws" }}
alb.ingress.kubernetes.io/target-type: ip
alb.ingress.kubernetes.io/target-group-attributes: {{ include "lameduck.attributes" (list .Values.ingress.annotations "alb.ingress.kubernetes.io/target-group-attributes" "deregistration_delay.timeout_seconds" $b.frontDrainSeconds) | quote }}
{{- /* All Ingresses of a group share one ALB, and only one Ingress may set the attributes of the ALB. The chart
therefore sets these attributes only if the value `lameduck.frontIdleTimeout` is set. */}}
{{- if include "lameduck.isGiven" .Values.lameduck.frontIdleTimeout }}
alb.ingress.kubernetes.io/load-balancer-attributes: {{ include "lameduck.attributes" (list .Values.ingress.annotations "alb.ingress.kubernetes.io/load-balancer-attributes" "idle_timeout.timeout_seconds" (div (add (int64 $b.idle) 999) 1000)) | quote }}
{{- end }}
alb.ingress.kubernetes.io/healthcheck-path: {{ include "lameduck.healthCheckPath" . | quote }}
alb.ingress.kubernetes.io/healthcheck-port: {{ include "lameduck.healthCheckPort" . | quote }}
{{- if not (include "lameduck.isOn" .) }}
alb.ingress.kubernetes.io/success-codes: 200-499
{{- end }}
alb.ingress.kubernetes.io/healthcheck-interval-seconds: "5"
alb.ingress.kubernetes.io/healthcheck-timeout-seconds: "2"
alb.ingress.kubernetes.io/healthy-threshold-count: "2"
alb.ingress.kubernetes.io/unhealthy-threshold-count: "2"
{{- else if eq .Values.lameduck.front "azure" }}
appgw.ingress.kubernetes.io/connection-draining: "true"
appgw.ingress.kubernetes.io/connection-draining-timeout: {{ int64 $b.frontDrainSeconds | quote }}
{{- end }}
{{- end -}}

{{/* Annotations that make the sidecar of a service mesh exit after the server. The annotations request a native
sidecar. For Istio, they also request a proxy that waits until no connection is open. Since version 2.19, Linkerd reads
the annotation with `beta` in its name. */}}
{{- define "lameduck.meshAnnotations" -}}
{{- if eq .Values.lameduck.front "istio" }}
sidecar.istio.io/nativeSidecar: "true"
proxy.istio.io/config: '{"proxyMetadata":{"EXIT_ON_ZERO_ACTIVE_CONNECTIONS":"true"}}'
{{- else if eq .Values.lameduck.front "linkerd" }}
config.alpha.linkerd.io/proxy-enable-native-sidecar: "true"
config.beta.linkerd.io/proxy-enable-native-sidecar: "true"
{{- end }}
{{- end -}}
