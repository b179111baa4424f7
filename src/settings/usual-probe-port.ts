// The port of the probes where nothing says which.

/** usualProbePort is the one that is taken where a probe port is wanted and none is named. */
export const usualProbePort = 8081;
