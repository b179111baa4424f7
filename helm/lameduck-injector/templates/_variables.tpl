{{/* The CEL variables that the MutatingAdmissionPolicy of the injector computes from a pod. The API server computes a variable only
when an expression first uses it. */}}

{{- define "injector.folder" -}}/opt/lameduck{{- end -}}

{{- define "injector.variables" -}}
- name: annotations
  expression: "object.metadata.?annotations.orValue({})"
- name: wanted
  expression: "variables.annotations[?'lameduck/container'].orValue(variables.annotations[?'kubectl.kubernetes.io/default-container'].orValue(''))"
- name: chosen
  expression: "object.spec.containers.transformList(i, c, variables.wanted == '' ? size(object.spec.containers) == 1 : c.name == variables.wanted, i)"
- name: path
  expression: "'/spec/containers/' + string(variables.chosen[0])"
- name: container
  expression: "object.spec.containers[variables.chosen[0]]"
- name: env
  expression: "variables.container.?env.orValue([])"
- name: names
  expression: "variables.env.map(e, e.name)"
# The index of the last entry NODE_OPTIONS in the list `env` of the container, or -1 if there is no such entry. If a
# name is in the list twice, Kubernetes uses the last entry.
- name: optionsAt
  expression: "variables.names.lastIndexOf('NODE_OPTIONS')"
- name: optionsGiven
  expression: "variables.optionsAt < 0 ? '' : variables.env[variables.optionsAt].?value.orValue('')"
- name: mounts
  expression: "variables.container.?volumeMounts.orValue([]).map(m, m.mountPath)"
- name: everyContainer
  expression: "object.spec.containers + object.spec.?initContainers.orValue([])"
- name: grace
  expression: "int(object.spec.?terminationGracePeriodSeconds.orValue(30))"
# The reason why the injector skips the pod, or an empty text. The injector also skips a pod with a very long
# terminationGracePeriodSeconds. The API server would write a number above 2^53 as a string into the patched pod, and
# then reject the pod.
- name: reason
  expression: >-
    object.spec.?os.name.orValue('linux') != 'linux' || object.spec.?nodeSelector[?'kubernetes.io/os'].orValue('linux') != 'linux' ? 'the pod is not for Linux'
    : object.spec.?hostNetwork.orValue(false) ? 'the pod has hostNetwork, so the probe port would occupy a port of the node'
    : object.spec.restartPolicy != 'Always' ? 'the pod has restartPolicy ' + object.spec.restartPolicy
    : size(variables.chosen) != 1 ? (variables.wanted == '' ? 'the pod has several containers: name the one to inject in the annotation lameduck/container' : 'the pod has no container with the name in the annotation lameduck/container or kubectl.kubernetes.io/default-container')
    : variables.grace > 2000000 ? 'terminationGracePeriodSeconds is more than 2000000'
    : variables.everyContainer.exists(c, c.name == 'lameduck') ? 'a container of the pod is named lameduck'
    : 'LAMEDUCK_DISABLED' in variables.names ? 'LAMEDUCK_DISABLED is set'
    : variables.optionsGiven.contains('lameduck') ? 'NODE_OPTIONS already loads lameduck'
    : variables.mounts.exists(m, m == '/' || m.matches('^/opt(/lameduck.*)?/?$')) ? 'the container mounts a volume at /opt or {{ include "injector.folder" . }}'
    : ''
- name: portAt
  expression: "variables.names.lastIndexOf('LAMEDUCK_PROBE_PORT')"
- name: portGiven
  expression: "variables.portAt < 0 ? '' : variables.env[variables.portAt].?value.orValue('')"
# The probe port, or 0 if the pod gets no probe port. It is 0 if LAMEDUCK_PROBE_PORT is set to something other than a
# port number, or set with `valueFrom`. Without this variable, it is 0 if a container of the pod declares port 8081.
- name: probePort
  expression: >-
    variables.portAt >= 0 ? (variables.portGiven.matches('^[1-9][0-9]{0,4}$') && int(variables.portGiven) < 65536 ? int(variables.portGiven) : 0)
    : variables.everyContainer.exists(c, c.?ports.orValue([]).exists(p, p.containerPort == 8081)) ? 0
    : 8081
# The seconds of the preStop hook. A `sleep` hook has its seconds in its field `seconds`. Any other hook counts with the
# whole grace period of the pod, because its duration is unknown.
- name: preStop
  expression: "!variables.container.?lifecycle.?preStop.hasValue() ? 0 : int(variables.container.lifecycle.preStop.?sleep.seconds.orValue(variables.grace))"
- name: newGrace
  expression: "[variables.grace, {{ include "injector.text" .Values.minTerminationGracePeriodSeconds }} + variables.preStop].max()"
{{- if eq .Values.preStopHook "auto" }}
# The text of the container's command and arguments: each word on a line of its own.
- name: words
  expression: "(variables.container.?command.orValue([]) + variables.container.?args.orValue([])).map(w, w + '\\n').join('')"
{{- end }}
- name: settings
  expression: >-
    [
      {'name': 'LAMEDUCK_SHUTDOWN_DELAY_DURATION', 'value': {{ include "injector.string" .Values.shutdownDelayDuration }}},
      {'name': 'LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS', 'value': string(variables.newGrace)},
      {'name': 'LAMEDUCK_PRE_STOP_SECONDS', 'value': string(variables.preStop)},
      {'name': 'LAMEDUCK_PROBE_PORT', 'value': variables.probePort == 0 ? 'off' : string(variables.probePort)}
    ].filter(e, !(e['name'] in variables.names))
{{- end -}}
