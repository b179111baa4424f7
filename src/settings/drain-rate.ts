// The rate at which the drain ends long-running requests. It is a constant, not a setting.

/**
 * lowestDrainRate is the lowest rate at which the drain ends long-running requests, per second. It is the apiserver's
 * rate.
 */
export const lowestDrainRate = 200;
