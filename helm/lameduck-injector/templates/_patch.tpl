{{/* The JSON patch of a pod, as a CEL expression. The expression concatenates lists of patch operations: one list for each field
that the injector adds to a pod. docs/injector.md describes the patched pod. An apply configuration cannot replace the JSON patch,
because it cannot remove fields, and merges lists by its own rules. */}}

{{- define "injector.patch" -}}
(has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}])
+ (variables.reason != '' ? [JSONPatch{op: 'add', path: '/metadata/annotations/lameduck~1skipped', value: variables.reason}] :
[JSONPatch{op: 'add', path: '/metadata/annotations/lameduck~1injected', value: variables.container.name},
JSONPatch{op: 'add', path: '/spec/terminationGracePeriodSeconds', value: variables.newGrace}]
+ {{ include (printf "injector.%s" (include "injector.delivery" .)) . }}
+ {{ include "injector.mount" . }}
+ {{ include "injector.environment" . }}
+ {{ include "injector.readinessProbe" . }}
{{- if ne .Values.preStopHook "never" }}
+ {{ include "injector.preStop" . }}
{{- end }})
{{- end -}}

{{- define "injector.imageVolume" -}}
(has(object.spec.volumes) ? [] : [JSONPatch{op: 'add', path: '/spec/volumes', value: []}])
+ [JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{
  name: 'lameduck',
  image: Object.spec.volumes.image{reference: {{ include "injector.string" .Values.image }}, pullPolicy: 'IfNotPresent'}}}]
{{- end -}}

{{/* The init container copies the resources of the container, so that the quality-of-service class of the pod does not change.
It does not copy resource claims, because a claim may be for one container only. Its security context meets the pod security
standard `restricted`. */}}
{{- define "injector.initContainer" -}}
(has(object.spec.volumes) ? [] : [JSONPatch{op: 'add', path: '/spec/volumes', value: []}])
+ [JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{
  name: 'lameduck', emptyDir: Object.spec.volumes.emptyDir{sizeLimit: '256Mi'}}}]
+ (has(object.spec.initContainers) ? [] : [JSONPatch{op: 'add', path: '/spec/initContainers', value: []}])
+ [JSONPatch{op: 'add', path: '/spec/initContainers/0', value: Object.spec.initContainers{
  name: 'lameduck',
  image: {{ include "injector.string" .Values.image }},
  imagePullPolicy: 'IfNotPresent',
  command: ['/nodejs/bin/node', '--eval', {{ include "injector.string" (include "injector.copy" . | replace "\n" " ") }}, '/app', '{{ include "injector.folder" . }}'],
  securityContext: Object.spec.initContainers.securityContext{
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: 65532,
    capabilities: Object.spec.initContainers.securityContext.capabilities{drop: ['ALL']},
    seccompProfile: Object.spec.initContainers.securityContext.seccompProfile{type: 'RuntimeDefault'}},
  volumeMounts: [Object.spec.initContainers.volumeMounts{name: 'lameduck', mountPath: '{{ include "injector.folder" . }}'}]}}]
+ (has(variables.container.resources) ? [JSONPatch{op: 'copy', from: variables.path + '/resources', path: '/spec/initContainers/0/resources'}] : [])
+ (variables.container.?resources.?claims.hasValue() ? [JSONPatch{op: 'remove', path: '/spec/initContainers/0/resources/claims'}] : [])
{{- end -}}

{{/* Copies the package into a temporary folder, and renames the folder when the copy is complete. A second run changes
nothing. The init container of the chart lameduck does the same. */}}
{{- define "injector.copy" -}}
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
{{- end -}}

{{- define "injector.mount" -}}
(has(variables.container.volumeMounts) ? [] : [JSONPatch{op: 'add', path: variables.path + '/volumeMounts', value: []}])
+ [JSONPatch{op: 'add', path: variables.path + '/volumeMounts/-', value: Object.spec.containers.volumeMounts{
  name: 'lameduck',
  {{- if eq (include "injector.delivery" .) "imageVolume" }}
  mountPath: '{{ include "injector.folder" . }}/package',
  subPath: 'app',
  {{- else }}
  mountPath: '{{ include "injector.folder" . }}',
  {{- end }}
  readOnly: true}}]
{{- end -}}

{{/* Returns the patch operations for the container's env. If the container already has NODE_OPTIONS, the option that
loads lameduck is appended to the value. If this value contains a reference `$(NAME)`, the option is put at the
beginning instead. Kubernetes leaves a reference to an unknown variable in the value, and Node ignores every option
after such a reference. */}}
{{- define "injector.environment" -}}
{{- $load := printf "'--import=%s/package/dist/register.cjs'" (include "injector.folder" .) -}}
(has(variables.container.env) ? [] : [JSONPatch{op: 'add', path: variables.path + '/env', value: []}])
+ (variables.optionsAt < 0 ?
  [JSONPatch{op: 'add', path: variables.path + '/env/-', value: {'name': 'NODE_OPTIONS', 'value': {{ $load }} + (has(variables.container.envFrom) ? ' $(NODE_OPTIONS)' : '')}}]
: has(variables.env[variables.optionsAt].valueFrom) ?
  [JSONPatch{op: 'replace', path: variables.path + '/env/' + string(variables.optionsAt) + '/name', value: 'GIVEN_NODE_OPTIONS'},
  JSONPatch{op: 'add', path: variables.path + '/env/-', value: {'name': 'NODE_OPTIONS', 'value': {{ $load }} + ' $(GIVEN_NODE_OPTIONS)'}}]
:
  [JSONPatch{op: 'add', path: variables.path + '/env/' + string(variables.optionsAt) + '/value',
  value: (variables.optionsGiven.contains('$(') ? {{ $load }} + ' ' + variables.optionsGiven : variables.optionsGiven + ' ' + {{ $load }}).trim()}])
+ variables.settings.map(e, JSONPatch{op: 'add', path: variables.path + '/env/-', value: e})
{{- end -}}

{{/* Adds a readiness probe only if the pod itself has the label for injection. With `allPods`, the program may be in another
language and would fail a probe of /readyz forever. */}}
{{- define "injector.readinessProbe" -}}
(has(variables.container.readinessProbe) || variables.probePort == 0 || object.metadata.?labels[?'lameduck/inject'].orValue('') != 'enabled' ? [] :
  [JSONPatch{op: 'add', path: variables.path + '/readinessProbe', value: Object.spec.containers.readinessProbe{
    httpGet: Object.spec.containers.readinessProbe.httpGet{path: '/readyz', port: variables.probePort},
    periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 2}}])
{{- end -}}

{{/* With `preStopHook: auto`, adds the preStop hook `lameduck stop` if npm or a shell starts the program. The command may begin
with an init process or another wrapper, with options and variables. The chart lameduck has the same regular expression. */}}
{{- define "injector.preStop" -}}
(variables.container.?lifecycle.?preStop.hasValue() || variables.probePort == 0
{{- if eq .Values.preStopHook "auto" }} || !variables.words.matches('^(((.*/)?(tini|tini-static|dumb-init|catatonit|docker-entrypoint[.]sh|env)|(-[CPepru]|--rewrite)\\n.*|-.*|[A-Za-z_][A-Za-z0-9_]*=.*)\\n)*(.*/)?(npm|npx|yarn|yarnpkg|pnpm|pnpx|sh|ash|bash|dash)\\n')
{{- end }} ? [] :
  (has(variables.container.lifecycle) ? [] : [JSONPatch{op: 'add', path: variables.path + '/lifecycle', value: Object.spec.containers.lifecycle{}}])
  + [JSONPatch{op: 'add', path: variables.path + '/lifecycle/preStop', value: Object.spec.containers.lifecycle.preStop{
    exec: Object.spec.containers.lifecycle.preStop.exec{command: ['node', '{{ include "injector.folder" . }}/package/dist/cli/main.js', 'stop']}}}])
{{- end -}}
