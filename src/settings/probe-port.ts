// What the probe port has that nobody says.

/** usualProbePort is the one that is taken where a probe port is wanted and none is named. */
export const usualProbePort = 8081;

/** probePortMetricsPath is the path of the metrics there, where nothing else has any. */
export const probePortMetricsPath = '/metrics';
