{{/* The pod template. A change of the rendered pod template restarts all pods. The template therefore does not depend
on Helm's revision number, on the version of the chart, or on optional objects such as an Ingress. */}}

{{- define "lameduck.podTemplate" -}}
metadata:
  labels:
    {{- include "lameduck.selectorLabels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
    {{- end }}
  {{- with include "lameduck.annotations" (list (include "lameduck.meshAnnotations" . | fromYaml) .Values.podAnnotations) | fromJson }}
  annotations:
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
  {{- end }}
spec:
  terminationGracePeriodSeconds: {{ (include "lameduck.times" . | fromJson).grace | int64 }}
  serviceAccountName: {{ include "lameduck.serviceAccountName" . | quote }}
  automountServiceAccountToken: {{ or .Values.serviceAccount.automount .Values.leaderElection.enabled }}
  # Without this field, Kubernetes would set environment variables for a Service called lameduck, such as LAMEDUCK_PORT.
  # They would look like settings of lameduck.
  enableServiceLinks: false
  {{- with include "lameduck.pullSecrets" . | fromJsonArray }}
  imagePullSecrets:
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
  {{- end }}
  {{- with include "lameduck.podSecurity" . | fromJson }}
  securityContext:
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  {{- with .Values.runtimeClassName }}
  runtimeClassName: {{ . | quote }}
  {{- end }}
  {{- with .Values.schedulerName }}
  schedulerName: {{ . | quote }}
  {{- end }}
  {{- if .Values.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- with .Values.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- with .Values.dnsConfig }}
  dnsConfig:
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
  {{- end }}
  {{- with .Values.hostAliases }}
  hostAliases:
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
  {{- end }}
  {{- with .Values.extraPodSpec }}
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
  {{- end }}
  {{- with .Values.readinessGates }}
  readinessGates:
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
  {{- end }}
  {{- with include "lameduck.placement" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- $copies := and (include "lameduck.injects" .) (not (include "lameduck.injectsImage" .)) }}
  {{- if or $copies .Values.initContainers }}
  initContainers:
    {{- if $copies }}
    - {{ include "lameduck.injector" . | indent 6 | trim }}
    {{- end }}
    {{- with .Values.initContainers }}
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    - {{ include "lameduck.container" . | indent 6 | trim }}
    {{- with .Values.extraContainers }}
    {{- include "lameduck.yaml" (list $ .) | nindent 4 }}
    {{- end }}
  {{- with include "lameduck.volumes" . | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "lameduck.volumes" -}}
{{- if include "lameduck.mountsTmp" . }}
- name: tmp
  emptyDir:
    {{- toYaml (default dict .Values.tmp) | nindent 4 }}
{{- end }}
{{- if include "lameduck.injects" . }}
- {{ include "lameduck.injectedVolume" . | indent 2 | trim }}
{{- end }}
{{- if include "lameduck.mountsRunFolder" . }}
- name: run-lameduck
  emptyDir:
    sizeLimit: 1Mi
{{- end }}
{{- with .Values.extraVolumes }}
{{ include "lameduck.yaml" (list $ .) }}
{{- end }}
{{- end -}}

{{- define "lameduck.placement" -}}
{{- if .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- include "lameduck.yaml" (list . .Values.topologySpreadConstraints) | nindent 2 }}
{{- else if .Values.topologySpread.enabled }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: {{ $.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- include "lameduck.selectorLabels" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
    nodeTaintsPolicy: Honor
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "lameduck.container" -}}
name: server
image: {{ include "lameduck.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.command }}
command:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
{{- with .Values.args }}
args:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
env:
  {{- include "lameduck.environment" . | nindent 2 }}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
ports:
  - name: http
    containerPort: {{ .Values.containerPort | int64 }}
  {{- with include "lameduck.probePort" . }}
  - name: probes
    containerPort: {{ . }}
  {{- end }}
  {{- range .Values.extraPorts }}
  - name: {{ .name | quote }}
    containerPort: {{ .containerPort | int64 }}
    {{- with .hostPort }}
    hostPort: {{ . | int64 }}
    {{- end }}
    {{- with .protocol }}
    protocol: {{ . }}
    {{- end }}
  {{- end }}
{{ include "lameduck.probesOn" (list . (ternary "probes" "http" (ne (include "lameduck.probePort" .) ""))) | trim }}
{{ include "lameduck.ending" (list . (include "lameduck.lifecycleOf" . | fromJson)) | trim }}
{{- with .Values.extraContainerSpec }}
{{ include "lameduck.yaml" (list $ .) }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
{{- with include "lameduck.containerSecurity" . | fromJson }}
securityContext:
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
{{- with include "lameduck.mounts" . | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "lameduck.mounts" -}}
{{- if include "lameduck.mountsTmp" . }}
- name: tmp
  mountPath: /tmp
{{- end }}
{{- if include "lameduck.injects" . }}
- {{ include "lameduck.injectedMount" . | indent 2 | trim }}
{{- end }}
{{- if include "lameduck.mountsRunFolder" . }}
- name: run-lameduck
  mountPath: {{ include "lameduck.runFolder" . }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ include "lameduck.yaml" (list $ .) }}
{{- end }}
{{- end -}}

{{/* The mount path of a volume of the pod. Files in it survive a restart of the container. */}}
{{- define "lameduck.runFolder" -}}/run/lameduck{{- end -}}

{{- define "lameduck.mountsRunFolder" -}}
{{- if and .Values.runFolder.enabled (include "lameduck.isOn" .) -}}yes{{- end -}}
{{- end -}}
