// The rate at which the drain ends long-running requests. It is a constant, not a setting.

/** leastPerSecond is the lowest rate at which long-running requests are ended, per second. It is the apiserver's. */
export const leastPerSecond = 200;
