// Sample data for the pictures of the dashboard: one hour, from 14:00, of a Deployment with two pods. At 14:14, some
// requests of the route /reports are slow. At 14:30, a rollout begins.

/** Sample is one time series of a dashboard query: its labels, and its value at each minute of the hour. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly at: (minute: number) => number | undefined;
}

type Line = (minute: number) => number;

interface Pod {
  readonly name: string;
  /**
   * The times at which the sample pod starts, becomes ready, receives SIGTERM and exits, in minutes after 14:00.
   */
  readonly starts: number;
  readonly isReady: number;
  readonly stops: number;
  readonly exits: number;
}

// The pods in the sample data, with their times in minutes after 14:00. During the rollout, each new pod becomes ready
// before the old pod receives SIGTERM.
const pods: readonly Pod[] = [
  { name: 'shop-7d4b9c8f-k8n2w', starts: -60, isReady: -60, stops: 31, exits: 31.7 },
  { name: 'shop-7d4b9c8f-x2x4z', starts: -60, isReady: -60, stops: 32.5, exits: 33.2 },
  { name: 'shop-5f6c7d9b-4tq9m', starts: 30.6, isReady: 30.8, stops: 99, exits: 99 },
  { name: 'shop-5f6c7d9b-wv7hd', starts: 32.1, isReady: 32.3, stops: 99, exits: 99 },
];

/** Returns a pseudo-random number from -1 to 1, always the same for the same argument. */
function scattered(number: number): number {
  const product = Math.sin(number * 12.9898) * 43_758.5453;
  return 2 * (product - Math.floor(product)) - 1;
}

/**
 * Returns sample values of one metric over time: random-looking values every `step` minutes, and straight lines between
 * them.
 */
function wandering(seed: number, step: number): Line {
  return (minute) => {
    const before = Math.floor(minute / step);
    const [from, to] = [scattered(before + seed * 1_009), scattered(before + 1 + seed * 1_009)];
    return from + (to - from) * (minute / step - before);
  };
}

/** Returns one curve of the sample data. Its values look random and are between -1 and 1. */
function noise(seed: number): Line {
  const [slow, fast] = [wandering(seed, 7), wandering(seed + 0.5, 0.8)];
  return (minute) => 0.5 * slow(minute) + 0.5 * fast(minute);
}

const around =
  (middle: number, width: number, seed: number): Line =>
  (minute) =>
    middle + width * noise(seed)(minute);

const constant =
  (value: number): Line =>
  () =>
    value;

/** Adds a short peak at the minute `at` to one curve of the sample data. */
const withBump =
  (line: Line, at: number, height: number, minutes = 1): Line =>
  (minute) =>
    line(minute) + height * Math.exp(-(((minute - at) / minutes) ** 2));

const serves = ({ isReady, stops }: Pod, minute: number): boolean => minute >= isReady && minute < stops;
const numberOf = (isCounted: (pod: Pod) => boolean): number => pods.filter(isCounted).length;

/** Returns one series of sample data for each pod, for as long as the pod exists. */
function perPod(line: (pod: Pod, seed: number) => Line, labels: Readonly<Record<string, string>> = {}): Sample[] {
  return pods.map((pod, index) => ({
    labels: { pod: pod.name, ...labels },
    at: (minute) => (minute >= pod.starts && minute < pod.exits ? line(pod, index + 1)(minute) : undefined),
  }));
}

/**
 * Returns the values of a metric for one pod. Each value is that of the whole Deployment, divided by the number of pods
 * that serve at this time. After SIGTERM, the pod's value falls to 0 within half a minute.
 */
function shareOf(total: number, width: number): (pod: Pod, seed: number) => Line {
  return (pod, seed) => (minute) => {
    const share =
      around(total, width, seed)(minute) /
      Math.max(
        1,
        numberOf((one) => serves(one, minute)),
      );
    if (minute < pod.isReady) return 0;
    return minute < pod.stops ? share : share * Math.max(0, 1 - (minute - pod.stops) * 2);
  };
}

const one = (labels: Readonly<Record<string, string>>, at: Sample['at']): Sample[] => [{ labels, at }];
const workload = { workload: 'shop' };
const route = (name: string, status: string): Record<string, string> => ({
  http_route: name,
  http_response_status_code: status,
});

// The time at which each lifecycle signal of a shutdown fires, in minutes after SIGTERM.
const signals: Readonly<Record<string, number>> = {
  ShutdownInitiated: 0,
  AfterShutdownDelayDuration: 0.17,
  PreShutdownHooksStopped: 0.17,
  NotAcceptingNewRequest: 0.18,
  HTTPServerStoppedListening: 0.2,
  InFlightRequestsDrained: 0.6,
};

const mebibyte = 2 ** 20;

/**
 * `samples` maps the title of each dashboard panel to the sample data of the panel. Each element has the time series of
 * one query of the panel.
 */
export const samples: Readonly<Record<string, readonly Sample[][]>> = {
  Requests: [
    [
      ...one(route('/orders', '200'), around(84, 9, 1)),
      ...one(route('/orders/:id', '200'), around(52, 7, 2)),
      ...one(route('/orders/:id', '404'), around(6, 2, 3)),
      ...one(route('/reports', '200'), around(15, 3, 4)),
      ...one(route('/reports', '503'), withBump(constant(0), 14, 3)),
    ],
  ],
  'Error rate': [
    one(workload, (minute) => Math.max(0, withBump(around(0.0006, 0.0005, 5), 14, 0.018)(minute))),
    one(workload, (minute) => Math.max(0, around(0.0009, 0.0007, 6)(minute))),
  ],
  'Request duration': [
    [
      ...one({ http_route: '/orders' }, around(0.24, 0.05, 1)),
      ...one({ http_route: '/orders/:id' }, around(0.12, 0.04, 2)),
      ...one({ http_route: '/reports' }, withBump(around(1.7, 0.3, 3), 14, 1.6, 2)),
    ],
  ],
  'In flight': [perPod(shareOf(42, 12)), perPod(shareOf(9, 2))],
  Connections: [perPod(shareOf(180, 20))],
  Replicas: [
    one(workload, (minute) => numberOf(({ starts, exits }) => minute >= starts && minute < exits)),
    one({ deployment: 'shop' }, (minute) => numberOf((pod) => serves(pod, minute))),
  ],
  'Lifecycle signals': [
    [
      ...one({ signal: 'MuxAndDiscoveryComplete' }, (minute) =>
        numberOf(({ starts, exits }) => minute >= starts && minute < exits),
      ),
      ...one({ signal: 'HasBeenReady' }, (minute) =>
        numberOf(({ isReady, exits }) => minute >= isReady && minute < exits),
      ),
      ...Object.entries(signals).flatMap(([signal, delay]) =>
        one({ signal }, (minute) => numberOf(({ stops, exits }) => minute >= stops + delay && minute < exits)),
      ),
    ],
  ],
  'Shutdown time': [perPod((_, seed) => withBump(around(13, 1.5, seed), 14, 9, 2)), one({}, constant(46))],
  'Requests during shutdowns': [
    [
      ...one(
        { outcome: 'answered' },
        (minute) => 214 * numberOf(({ stops, exits }) => minute >= stops && minute < exits),
      ),
      ...one({ outcome: 'refused' }, constant(0)),
      ...one({ outcome: 'cut' }, constant(0)),
    ],
  ],
  'Health checks': [
    [
      ...one({ type: 'livez', name: 'ping' }, constant(1)),
      ...one({ type: 'readyz', name: 'database' }, constant(1)),
      ...one({ type: 'readyz', name: 'shutdown' }, (minute) =>
        numberOf(({ stops, exits }) => minute >= stops && minute < exits) > 0 ? 0 : 1,
      ),
    ],
  ],
  CPU: [perPod((pod, seed) => withBump(around(0.31, 0.05, seed), pod.starts, 0.35, 0.5))],
  Heap: [
    perPod((pod, seed) => (minute) => mebibyte * (48 + 14 * noise(seed)(minute) + Math.min(8, minute - pod.starts))),
    perPod((pod, seed) => (minute) => mebibyte * (118 + 3 * noise(seed)(minute) + Math.min(14, minute - pod.starts))),
  ],
  'Event loop': [
    perPod((_, seed) => around(0.27, 0.05, seed)),
    perPod((_, seed) => withBump(around(0.018, 0.008, seed), 14, seed === 1 ? 0.12 : 0)),
  ],
  'Event loop stalls': [perPod((_, seed) => (minute) => (seed === 1 && minute >= 13.5 && minute < 14.5 ? 1 : 0))],
  Leadership: [
    perPod(
      (_, seed) => (minute) => {
        const leader = [31.1, 32.6].filter((end) => minute >= end).length;
        return seed === leader + 1 ? 1 : 0;
      },
      { name: 'shop-jobs' },
    ),
  ],
  Restarts: [perPod(() => constant(0))],
};
