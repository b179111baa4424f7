{{/* Returns the endpoints of a PodMonitor or ServiceMonitor. Arguments: (list $ monitor). They are two paths of the
probe port, which answers until the process ends. Prometheus treats each path as a separate target. Without the label
`metrics_path`, both targets would write the same series of the metric `up`. Alerts and the dashboard use the labels
`release` and `workload`. */}}
{{- define "lameduck.scrape" -}}
{{- $ := index . 0 -}}
{{- $monitor := index . 1 -}}
{{- range $path := list "/metrics" "/metrics/slis" }}
- port: probes
  path: {{ $path }}
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  relabelings:
    - sourceLabels: [__metrics_path__]
      targetLabel: metrics_path
    - targetLabel: release
      replacement: {{ $.Release.Name | quote }}
    - targetLabel: workload
      replacement: {{ include "lameduck.fullname" $ | quote }}
    {{- with $monitor.relabelings }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $monitor.metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
