// Constants of the probe port.

/** usualProbePort is the default where a probe port is needed and none is given. */
export const usualProbePort = 8081;

/** probePortMetricsPath is the path of the metrics on the probe port. */
export const probePortMetricsPath = '/metrics';
