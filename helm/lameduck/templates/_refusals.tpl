{{/* Rejects all chart values that would lose requests, and all values that the API server would not accept, in one
error. Commands that render the chart, such as `helm install` and `helm template`, report this error. `helm lint` does
not report it. */}}

{{- define "lameduck.validate" -}}
{{- $problems := dict "lines" list -}}
{{- $arguments := list . $problems -}}
{{- /* If the Helm release has no pods (rulesOnly), only the values for alerts and dashboards have an effect. */ -}}
{{- if not .Values.rulesOnly -}}
{{- include "lameduck.refuseKinds" $arguments -}}
{{- include "lameduck.refuseTimes" $arguments -}}
{{- include "lameduck.refuseElection" $arguments -}}
{{- include "lameduck.refuseFront" $arguments -}}
{{- include "lameduck.refuseProbes" $arguments -}}
{{- include "lameduck.refuseRollout" $arguments -}}
{{- include "lameduck.refuseReplicas" $arguments -}}
{{- include "lameduck.refuseDisruption" $arguments -}}
{{- include "lameduck.refuseNames" $arguments -}}
{{- include "lameduck.refuseContainers" $arguments -}}
{{- include "lameduck.refuseSidecarProxies" $arguments -}}
{{- include "lameduck.refuseImage" $arguments -}}
{{- include "lameduck.refuseInjection" $arguments -}}
{{- include "lameduck.refuseLifecycle" $arguments -}}
{{- include "lameduck.refuseFields" $arguments -}}
{{- include "lameduck.refuseService" $arguments -}}
{{- include "lameduck.refuseRoutes" $arguments -}}
{{- include "lameduck.refuseMonitors" $arguments -}}
{{- end -}}
{{- include "lameduck.refuseLabels" $arguments -}}
{{- include "lameduck.refuseAlerts" $arguments -}}
{{- include "lameduck.failWith" $problems.lines -}}
{{- end -}}
