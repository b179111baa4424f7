// The limits of the benchmark: how much lameduck may cost at most. docs/benchmarks.md lists each limit with the
// measured value.
import { ratio as ratioText } from './format.ts';
import type { Results } from './results.ts';
import type { Estimate } from './statistics.ts';
import { requestRatio } from './use/section.ts';

/** Mark is an upper limit for one result of the benchmark, with the measured value of this result. */
export interface Mark {
  readonly what: string;
  readonly mark: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/**
 * The most CPU time that the probe thread may use while no probe arrives, in milliseconds per second: 0.1 % of a core.
 */
const idleThread = 1;

/**
 * marksOf returns the upper limits for the results of the benchmark, such as the CPU time per request. The order is
 * that of docs/benchmarks.md.
 */
export function marksOf({ prices, uses, start, streams, probes, thread }: Results): Mark[] {
  const own = prices['lameduck'];
  const { bare, code, register } = start.byWay;
  const used = (title: string, most: number): Mark[] =>
    uses
      .filter(({ variant }) => variant.title === title)
      .map((use) =>
        ofRatio(`CPU time per request over loopback, ratio to a bare server, ${title}`, requestRatio(use), most),
      );
  return [
    ...(own === undefined
      ? []
      : [
          ofRatio('CPU time per request, ratio to a bare server, `lameduck(server)`, direct', own.ratio, 1.005),
          ofRatio(
            'CPU time per request over loopback, ratio to a bare server, `lameduck(server)`',
            own.wholeRatio,
            1.01,
          ),
        ]),
    ...used('as in the chart', 1.02),
    ...used('`lameduck/register`', 1.02),
    ...used('`lameduck/fastify`', 1.02),
    ...used('HTTP/2 without TLS', 1.02),
    ...used('HTTP/2 over TLS', 1.02),
    ...used('everything on', 1.05),
    ofNumber(
      'time from the start to the first response, ratio to a bare server, `lameduck(server)`',
      code.firstResponse / bare.firstResponse,
      1.1,
      3,
      '',
    ),
    ofNumber(
      'time from the start to the first response, ratio to a bare server, `lameduck/register`',
      register.firstResponse / bare.firstResponse,
      1.1,
      3,
      '',
    ),
    ofNumber("duration of `import 'lameduck'`", start.import, 15, 1, ' ms'),
    ofNumber('time from the last response to the exit', start.exit, 50, 0, ' ms'),
    ...streams
      .filter(({ kind }) => kind === 'event streams')
      .flatMap(({ count, whole, lastEndMs, stillMs }) => [
        ofNumber('event streams that a drain cuts', count - whole, 0, 0, ''),
        ofNumber(
          'time from the end of the grace period to the end of the last event stream',
          (lastEndMs - 10_000) / 1_000,
          0.5,
          1,
          ' s',
        ),
        ofNumber('p99 of the delay of the event loop while event streams end', stillMs.p99, 10, 1, ' ms'),
      ]),
    ofNumber('p99 of the duration of a probe, main thread saturated', probes.saturated.p99, 5, 1, ' ms'),
    ofNumber('p99 of the duration of a probe, main thread blocked', probes.blocked.p99, 5, 1, ' ms'),
    ofNumber('CPU time of the probe thread, idle', thread.cpu[0]?.milliseconds ?? NaN, idleThread, 2, ' ms per second'),
    ofNumber('memory of the probe thread', thread.resident / 2 ** 20, 8, 1, ' MiB'),
  ];
}

function ofRatio(what: string, estimate: Estimate, most: number): Mark {
  return { what, mark: `at most ${String(most)}`, measured: ratioText(estimate), isMet: estimate.value <= most };
}

function ofNumber(what: string, value: number, most: number, digits: number, unit: string): Mark {
  return {
    what,
    mark: `at most ${String(most)}${unit}`,
    measured: `${value.toFixed(digits)}${unit}`,
    isMet: value <= most,
  };
}
