{{- define "lameduck.injects" -}}
{{- if and .Values.inject.enabled (include "lameduck.isOn" .) -}}yes{{- end -}}
{{- end -}}

{{/* Injection: an init container copies the package into a volume. Node loads it from there into a program that does not use
lameduck in its code. */}}

{{- define "lameduck.injectedFolder" -}}/opt/lameduck{{- end -}}

{{/* Returns `yes` if the pod mounts the image of lameduck as a volume. The pod then has no init container that copies
the package, and the image of lameduck needs no Node. */}}
{{- define "lameduck.injectsImage" -}}
{{- if and (include "lameduck.injects" .) (eq .Values.inject.delivery "imageVolume") -}}yes{{- end -}}
{{- end -}}

{{- define "lameduck.injectedVolume" -}}
name: lameduck
{{- if include "lameduck.injectsImage" . }}
image:
  reference: {{ include "lameduck.inRegistry" (list . .Values.inject.image) | quote }}
  pullPolicy: {{ .Values.image.pullPolicy }}
{{- else }}
emptyDir:
  sizeLimit: 256Mi
{{- end }}
{{- end -}}

{{- define "lameduck.injectedMount" -}}
name: lameduck
{{- if include "lameduck.injectsImage" . }}
mountPath: {{ include "lameduck.injectedFolder" . }}/package
{{- with trimAll "/" .Values.inject.from }}
subPath: {{ . | quote }}
{{- end }}
{{- else }}
mountPath: {{ include "lameduck.injectedFolder" . }}
{{- end }}
readOnly: true
{{- end -}}

{{/* The init container renames its copy when the copy is complete. If it runs again, it keeps the existing copy. Every user
can read the copy, because the server may run as another user. The init container never runs as root, even if the pod does. */}}
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
  {{- include "lameduck.yaml" (list $ .) | nindent 2 }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  privileged: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  {{- if eq (include "lameduck.text" (include "lameduck.podSecurity" . | fromJson).runAsUser) "0" }}
  runAsUser: 65532
  {{- end }}
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
volumeMounts:
  - name: lameduck
    mountPath: {{ include "lameduck.injectedFolder" . }}
{{- end -}}

{{/* Returns NODE_OPTIONS of the container: the options in the values, and then the option that loads lameduck. A tracer
in the values is therefore loaded before lameduck. */}}
{{- define "lameduck.nodeOptions" -}}
{{- $given := get (default dict .Values.env) "NODE_OPTIONS" | default "" -}}
{{- printf "%s --%s=%s/package/dist/register.cjs" $given .Values.inject.nodeOption (include "lameduck.injectedFolder" .) | trim -}}
{{- end -}}

{{- define "lameduck.refuseInjection" -}}
{{- $ := index . 0 -}}{{- $problems := index . 1 -}}
{{- $v := $.Values -}}
{{- if $v.inject.enabled -}}
{{- if and (include "lameduck.isOn" $) (not (include "lameduck.probePort" $)) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.probePort" $v.lameduck.probePort "a program that does not use lameduck in its code answers no probes on its own port" "set it to a port, such as 8081") -}}
{{- end -}}
{{- if or (regexMatch ":latest$" $v.inject.image) (not (regexMatch "^[^@]+(:[^/:@]+|@sha256:[0-9a-f]{64})$" $v.inject.image)) -}}
{{- include "lameduck.refuse" (list $problems "inject.image" $v.inject.image "must have a digest (sha256: and 64 hexadecimal digits), or a tag other than latest, so that all pods load the same version of lameduck" "add a digest, or a tag that always names the same image") -}}
{{- end -}}
{{- if and (eq $v.inject.delivery "imageVolume") (semverCompare "<1.35.0-0" $.Capabilities.KubeVersion.Version) -}}
{{- include "lameduck.refuse" (list $problems "inject.delivery" $v.inject.delivery (printf "an image volume needs Kubernetes 1.35, and the cluster has %s: an older version may drop the volume and keep NODE_OPTIONS, and no pod would start" $.Capabilities.KubeVersion.Version) "leave it out") -}}
{{- end -}}
{{- $options := get (default dict $v.env) "NODE_OPTIONS" -}}
{{- if kindIs "map" $options -}}
{{- include "lameduck.refuse" (list $problems "env.NODE_OPTIONS" $options "injection appends an option to this variable, so it must be a text" "write it as a text") -}}
{{- end -}}
{{- range $v.extraEnv -}}
{{- if eq .name "NODE_OPTIONS" -}}
{{- include "lameduck.refuse" (list $problems "extraEnv" .name "injection appends an option to the text of NODE_OPTIONS in env" "move NODE_OPTIONS into env") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns the name of the npm command or shell that starts the program, or an empty text if there is none. npm or the
shell is then the parent process of the program. It gets SIGTERM, and may not forward SIGTERM to the program. The
template also finds npm or the shell if the command begins with an init process such as tini, or with variables. */}}
{{- define "lameduck.launcher" -}}
{{- $words := concat (default list .Values.command) (default list .Values.args) | join "\n" | printf "%s\n" -}}
{{- $launcher := `^(((.*/)?(tini|tini-static|dumb-init|catatonit|docker-entrypoint[.]sh|env)|(-[CPepru]|--rewrite)\n.*|-.*|[A-Za-z_][A-Za-z0-9_]*=.*)\n)*(.*/)?(npm|npx|yarn|yarnpkg|pnpm|pnpx|sh|ash|bash|dash)\n` -}}
{{- regexFind $launcher $words | trim | splitList "\n" | last -}}
{{- end -}}

{{/* Returns a `lifecycle` with the preStop hook `lameduck stop` as JSON, or an empty text. The hook finds the process by
its probe port. */}}
{{- define "lameduck.stopHook" -}}
{{- $hook := .Values.preStopHook -}}
{{- if and (include "lameduck.probePort" .) (or (eq $hook "always") (and (eq $hook "auto") (include "lameduck.launcher" .))) -}}
{{- $injected := list "node" (printf "%s/package/dist/cli/main.js" (include "lameduck.injectedFolder" .)) -}}
{{- $command := ternary $injected (list "node_modules/.bin/lameduck") (eq (include "lameduck.injects" .) "yes") -}}
{{- dict "preStop" (dict "exec" (dict "command" (append $command "stop"))) | toJson -}}
{{- end -}}
{{- end -}}

{{/* Returns, as JSON, the field `lifecycle` of the container. If the values set a preStop hook, the chart's own preStop
hook is omitted, because a container can have only one. */}}
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
{{- $b := include "lameduck.times" $ | fromJson -}}
{{- $seconds := int64 $b.preStop -}}
{{- /* The preStop hook may be a `sleep` action of the kubelet, or an `exec` action with a command such as `sleep 15`.
*/ -}}
{{- $sleep := mul (regexFind "sleep[^0-9]{1,13}[0-9]+" (toJson $preStop) | regexFind "[0-9]+$" | int64) 1000 -}}
{{- if and $preStop (or (eq $seconds 0) (gt $sleep $seconds)) -}}
{{- include "lameduck.refuse" (list $problems "lifecycle.preStop" $preStop "uses a part of the grace period before the process signal" "set lameduck.preStopSeconds to the most seconds that the hook takes") -}}
{{- else if and $preStop (not (include "lameduck.isOn" $)) (lt $sleep (int64 $b.delay)) (not $v.lameduck.allowShortDelay) -}}
{{- include "lameduck.refuse" (list $problems "lifecycle.preStop" $preStop (printf "replaces the sleep of lameduck.enabled false, so it must sleep for lameduck.shutdownDelayDuration (%s), in which new connections still arrive" (include "lameduck.duration" $b.delay)) "let the hook begin with this sleep, or set lameduck.allowShortDelay") -}}
{{- else if and (include "lameduck.stopHook" $) (not $preStop) (gt $seconds 0) -}}
{{- include "lameduck.refuse" (list $problems "lameduck.preStopSeconds" $v.lameduck.preStopSeconds "must be 0, because the preStop hook `lameduck stop` begins the shutdown at once" "leave it out, or set preStopHook to never") -}}
{{- else if and (include "lameduck.isOn" $) (include "lameduck.launcher" $) (eq $v.preStopHook "auto") (not (include "lameduck.probePort" $)) (not $preStop) -}}
{{- include "lameduck.refuse" (list $problems "command, args" (include "lameduck.launcher" $) "does not reliably forward SIGTERM, and the hook lameduck stop needs a probe port" "start node itself, set lameduck.probePort, or set preStopHook to never") -}}
{{- end -}}
{{- $probe := $v.readinessProbe -}}
{{- $ownPaths := include "lameduck.settingText" (list "paths" $v.lameduck.readinessPaths) | nospace | splitList "," | compact -}}
{{- if and $probe (include "lameduck.isOn" $) (not $v.allowOwnReadinessProbe) -}}
{{- $path := dig "httpGet" "path" "" $probe -}}
{{- $port := include "lameduck.text" (dig "httpGet" "port" "" $probe) -}}
{{- $isProbePort := has $port (list "probes" (include "lameduck.probePort" $ | default "probes")) -}}
{{- if not (or (and $isProbePort (regexMatch "^/readyz/?([?]|$)" $path)) (and (not $isProbePort) (has $path $ownPaths))) -}}
{{- include "lameduck.refuse" (list $problems "readinessProbe" $probe "must fail from the process signal on, or a pod that is not deleted stays in its Services during the shutdown" "probe /readyz on the port probes, name the path in lameduck.readinessPaths, or set allowOwnReadinessProbe") -}}
{{- end -}}
{{- end -}}
{{- $alive := dig "httpGet" "path" "" (default dict $v.livenessProbe) -}}
{{- if and (include "lameduck.isOn" $) (or (regexMatch "(?i)^/readyz([/?]|$)" $alive) (has $alive $ownPaths)) -}}
{{- include "lameduck.refuse" (list $problems "livenessProbe" $v.livenessProbe "must not request a readiness path: a draining server is not ready, and the kubelet would restart it" "request /livez on the port probes") -}}
{{- end -}}
{{- end -}}
