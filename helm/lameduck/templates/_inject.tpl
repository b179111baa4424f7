{{/* Injection: an init container brings the package into a volume, from where Node loads it into a program that has never
heard of it. */}}

{{- define "lameduck.injectedFolder" -}}/opt/lameduck{{- end -}}

{{/* The copy gets its name only when it is whole, and is kept when the pod's init containers run again. Every user can read
it: the server may run as another one. */}}
{{- define "lameduck.injector" -}}
name: lameduck
image: {{ .Values.inject.image | quote }}
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
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
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
{{- if not (include "lameduck.probePort" $) -}}
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
