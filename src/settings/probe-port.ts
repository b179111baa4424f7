// Constants of the probe port, on which a worker thread answers probes.

/** usualProbePort is the probe port that is used if a probe port is required and none is configured. */
export const usualProbePort = 8081;

/** probePortMetricsPath is the path of the metrics on the probe port. */
export const probePortMetricsPath = '/metrics';
