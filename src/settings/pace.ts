// How fast clients are sent elsewhere, which nobody sets.

/** leastPerSecond is the apiserver's floor: so many are told to go in a second, however few there are. */
export const leastPerSecond = 200;
