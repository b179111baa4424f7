{{/* Everything that would lose requests or that no API server takes is refused here, all of it in one message. `helm lint`
keeps silent about it: only rendering tells. */}}

{{- define "lameduck.validate" -}}
{{- $problems := dict "lines" list -}}
{{- $arguments := list . $problems -}}
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
{{- include "lameduck.refuseRoutes" $arguments -}}
{{- include "lameduck.refuseMonitors" $arguments -}}
{{- include "lameduck.refuseAlerts" $arguments -}}
{{- include "lameduck.failWith" $problems.lines -}}
{{- end -}}
