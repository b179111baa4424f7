// Constants of the probe port, on which a worker thread answers probes.

/**
 * usualProbePort is the default probe port under `lameduck/register`, and for the commands `lameduck probe` and
 * `lameduck stop`.
 */
export const usualProbePort = 8081;

/** probePortMetricsPath is the path of the metrics on the probe port. */
export const probePortMetricsPath = '/metrics';
