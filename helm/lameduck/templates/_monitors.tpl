{{/* How Prometheus scrapes the probe port, which answers until the process ends: (list $ monitor). For Prometheus, two
paths of one port are two targets. A label distinguishes them, because both would otherwise write the same series `up`. The
labels `release` and `workload` name the release in alerts and on the dashboard. */}}
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
