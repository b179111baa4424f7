{{/* How Prometheus scrapes the probe port, which answers until the process ends: (list $ monitor). */}}
{{- define "lameduck.scrape" -}}
{{- $monitor := index . 1 -}}
{{- range $path := list "/metrics" "/metrics/slis" }}
- port: probes
  path: {{ $path }}
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  {{- with $monitor.relabelings }}
  relabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $monitor.metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
