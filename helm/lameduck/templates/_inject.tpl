{{- define "lameduck.injects" -}}
{{- if and .Values.inject.enabled (include "lameduck.isOn" .) -}}yes{{- end -}}
{{- end -}}

{{/* Injection: an init container brings the package into a volume, from where Node loads it into a program that has never
heard of it. */}}

{{- define "lameduck.injectedFolder" -}}/opt/lameduck{{- end -}}

{{/* The copy gets its name only when it is whole, and is kept when the pod's init containers run again. Every user can read
it: the server may run as another one. */}}
{{- define "lameduck.injector" -}}
name: lameduck
image: {{ include "lameduck.inRegistry" (list . .Values.inject.image) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
command:
  - {{ .Values.inject.node | quote }}
  - --eval
  - |
    const { chmodSync, cpSync, existsSync, mkdtempSync, renameSync } = require('node:fs');
    const [from, to] = process.argv.slice(1);
    if (!existsSync(`${to}/package`)) {
      const copy = mkdtempSync(`${to}/copy-`);
      for (const name of ['package.json', 'dist', 'node_modules']) {
        cpSync(`${from}/${name}`, `${copy}/${name}`, { recursive: true, verbatimSymlinks: true });
      }
      chmodSync(copy, 0o755);
      renameSync(copy, `${to}/package`);
    }
  - {{ .Values.inject.from | quote }}
  - {{ include "lameduck.injectedFolder" . }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  privileged: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
volumeMounts:
  - name: lameduck
    mountPath: {{ include "lameduck.injectedFolder" . }}
{{- end -}}

{{/* Behind what is there already, so that a tracer is loaded first. */}}
{{- define "lameduck.nodeOptions" -}}
{{- $given := get (default dict .Values.env) "NODE_OPTIONS" | default "" -}}
{{- printf "%s --%s=%s/package/dist/register.cjs" $given .Values.inject.nodeOption (include "lameduck.injectedFolder" .) | trim -}}
{{- end -}}

{{- define "lameduck.refuseInjection" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- if $v.inject.enabled -}}
{{- if and (include "lameduck.isOn" $) (not (include "lameduck.probePort" $)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probePort" $v.lameduck.probePort "a program that knows nothing of lameduck answers no probes on its own port" "set it to a port, such as 8081") -}}
{{- end -}}
{{- if or (regexMatch ":latest$" $v.inject.image) (not (regexMatch "^[^@]+(:[^/:@]+|@sha256:[0-9a-f]{64})$" $v.inject.image)) -}}
{{- include "lameduck.refuse" (list $problems "inject.image" $v.inject.image "its tag or digest must say which package is injected" "name one that does not move") -}}
{{- end -}}
{{- range $v.extraEnv -}}
{{- if eq .name "NODE_OPTIONS" -}}
{{- include "lameduck.refuse" (list $problems "extraEnv" .name "injection adds to it, and can only add to a text" "put it into env") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether npm or a shell starts the program. It gets SIGTERM, and may not forward it. */}}
{{- define "lameduck.isLaunched" -}}
{{- $words := .Values.command | default .Values.args | default (list "") -}}
{{- if regexMatch "^(.*/)?(npm|npx|yarn|yarnpkg|pnpm|pnpx|sh|ash|bash|dash)$" (first $words) -}}yes{{- end -}}
{{- end -}}

{{/* The hook `lameduck stop`, as the JSON of a lifecycle, or nothing. It finds the process by the probe port. */}}
{{- define "lameduck.stopHook" -}}
{{- $hook := .Values.preStopHook -}}
{{- if and (include "lameduck.probePort" .) (or (eq $hook "always") (and (eq $hook "auto") (include "lameduck.isLaunched" .))) -}}
{{- $injected := list "node" (printf "%s/package/dist/cli/main.js" (include "lameduck.injectedFolder" .)) -}}
{{- $command := ternary $injected (list "node_modules/.bin/lameduck") (eq (include "lameduck.injects" .) "yes") -}}
{{- dict "preStop" (dict "exec" (dict "command" (append $command "stop"))) | toJson -}}
{{- end -}}
{{- end -}}

{{/* The lifecycle of the values. A preStop in it replaces that of the chart, because a hook has only one handler. */}}
{{- define "lameduck.lifecycleOf" -}}
{{- $given := default dict .Values.lifecycle -}}
{{- if hasKey $given "preStop" -}}
{{- $given | toJson -}}
{{- else -}}
{{- merge dict $given (include "lameduck.stopHook" . | default (include "lameduck.sleep" .) | fromJson) | toJson -}}
{{- end -}}
{{- end -}}

{{- define "lameduck.refuseLifecycle" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- $preStop := (default dict $v.lifecycle).preStop -}}
{{- $seconds := (include "lameduck.times" $ | fromJson).preStop | int64 -}}
{{- if and $preStop (eq $seconds 0) -}}
{{- include "lameduck.refuse" (list $problems "lifecycle.preStop" $preStop "takes time from the grace period before the process signal" "set lameduck.preStopSeconds to the most seconds that it takes") -}}
{{- else if and (include "lameduck.stopHook" $) (not $preStop) (gt $seconds 0) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.preStopSeconds" $v.lameduck.preStopSeconds "must be 0, because the hook lameduck stop begins the shutdown at once" "leave it out, or set preStopHook to never") -}}
{{- else if and (include "lameduck.isOn" $) (include "lameduck.isLaunched" $) (eq $v.preStopHook "auto") (not (include "lameduck.probePort" $)) (not $preStop) -}}
{{- include "lameduck.refuse" (list $problems "command" ($v.command | default $v.args | first) "does not reliably forward SIGTERM, and the hook lameduck stop needs a probe port" "start node itself, set lameduck.probePort, or set preStopHook to never") -}}
{{- end -}}
{{- $probe := $v.readinessProbe -}}
{{- if and $probe (include "lameduck.isOn" $) (not $v.allowOwnReadinessProbe) -}}
{{- $path := dig "httpGet" "path" "" $probe -}}
{{- $port := include "lameduck.text" (dig "httpGet" "port" "" $probe) -}}
{{- $isProbePort := has $port (list "probes" (include "lameduck.probePort" $ | default "probes")) -}}
{{- $ownPaths := include "lameduck.settingText" (list "paths" $v.lameduck.readinessPaths) | nospace | splitList "," -}}
{{- if not (or (and $isProbePort (regexMatch "^/readyz/?([?]|$)" $path)) (and (not $isProbePort) (has $path $ownPaths))) -}}
{{- include "lameduck.refuse" (list $problems "readinessProbe" $probe "must fail from the process signal on, or a pod that is not deleted stays in its Services during the shutdown" "probe /readyz on the port probes, name the path in lameduck.readinessPaths, or set allowOwnReadinessProbe") -}}
{{- end -}}
{{- end -}}
{{- end -}}
