// Checks the exit code and the final log line of each container. Compares the final log line with the counts of the
// clients and of the scraper.
import assert from 'node:assert/strict';
import type { ShutdownRecord } from '../../../src/observer.ts';
import type { Run } from './kubernetes.ts';
import type { Load } from './load.ts';
import type { Scraper } from './scraper.ts';

/**
 * How late a client's report may be, in milliseconds. A client reports its counts once per second, and a busy machine
 * delays a report.
 */
const slack = 1500;

/**
 * The longest time in milliseconds that may pass between two successful scrapes of a pod. One scrape can take 5.5 s.
 * For this time, the probe thread waits for new metrics from a busy main thread. Then it sends older metrics. The
 * scraper starts its next scrape only after the previous response.
 */
const longestSilence = 6500;

// Tells whether the kubelet has lost the end of a log. A busy kubelet may remove the container of a deleted pod before
// it has read the log to its end. It then sends this error instead of the rest.
function isEndLost({ lines }: Run): boolean {
  return lines.at(-1)?.startsWith('rpc error: code = NotFound') === true;
}

/** recordOf returns the final log line of a run that has ended. It fails if there is none. */
export function recordOf({ pod, lines }: Run): ShutdownRecord {
  const last = lines.at(-1) ?? 'nothing at all';
  const record = (last.startsWith('{') ? JSON.parse(last) : {}) as Partial<ShutdownRecord>;
  assert.equal(
    record.schema,
    'lameduck/shutdown/v1',
    `the log of ${pod} has no final log line, and ends with: ${last}`,
  );
  return record as ShutdownRecord;
}

/**
 * assertEndedWell asserts that a container exited with code 0, within its shutdown budget, and with no request
 * unfinished. If the kubelet has lost the end of the log, only the exit code is known. It is not 0 if the server has
 * cut a request.
 */
export function assertEndedWell(run: Run): void {
  assert.equal(run.exitCode, 0, run.pod);
  if (isEndLost(run)) return;
  const { unfinished, hookFailures, heldBy, requests, durationMs, budgetMs } = recordOf(run);
  assert.deepEqual({ unfinished, hookFailures, heldBy }, { unfinished: [], hookFailures: [], heldBy: [] }, run.pod);
  assert.deepEqual([requests.cut, requests.refused], [0, 0], run.pod);
  assert.ok(
    durationMs < budgetMs,
    `the shutdown of ${run.pod} took ${String(durationMs)} ms of ${String(budgetMs)} ms`,
  );
}

/**
 * assertToldAlike asserts that the final log line of a container has as many answered requests as the clients counted
 * during the container's shutdown.
 */
export function assertToldAlike(run: Run, load: Load): void {
  if (isEndLost(run)) return;
  const { requests } = recordOf(run);
  const [began, ended] = [timeOf(run, 'ShutdownInitiated'), timeOf(run)];
  const answeredBetween = (from: number, to: number) =>
    load.seconds
      .filter(({ at }) => at > from && at <= to)
      .reduce((sum, { pods }) => sum + (pods[run.pod]?.answered ?? 0), 0);
  const most = answeredBetween(began, ended + 1000 + slack);
  const least = answeredBetween(began + 1000 + slack, ended);
  const told = `${run.pod} logged ${String(requests.answered)} answered requests, the clients counted ${String(least)} to ${String(most)}`;
  assert.ok(requests.answered >= least && requests.answered <= most, told);
}

/**
 * assertScraped asserts that scrapes succeeded from the start of a container to its end. It ignores a container that
 * was never ready, because this container may have ended before the first scrape.
 */
export function assertScraped(run: Run, scraper: Scraper): void {
  if (isEndLost(run)) return;
  if (!run.lines.some((line) => line.includes('"name":"HasBeenReady"'))) return;
  const [began, ended] = [timeOf(run, 'MuxAndDiscoveryComplete'), timeOf(run)];
  const its = (scraper.pods.get(run.pod) ?? []).filter(({ at }) => at > began && at < ended);
  const last = its.at(-1);
  assert.ok(last, `${run.pod} was never scraped`);
  its.forEach(({ at }, index) => {
    const silence = (its[index + 1]?.at ?? ended) - at;
    const when = `${String(at - began)} ms after its start, ${String(ended - at)} ms before its end`;
    assert.ok(silence < longestSilence, `${run.pod} was not scraped for ${String(silence)} ms, ${when}`);
  });
  assert.ok(last.isShuttingDown, `Prometheus must scrape ${run.pod} during its shutdown`);
  assert.ok(last.answered <= recordOf(run).requests.answered, run.pod);
}

/** timeOf returns the time at which a lifecycle signal was logged, or by default the time of the last log line. */
export function timeOf({ pod, lines }: Run, name?: string): number {
  const line = name === undefined ? lines.at(-1) : lines.find((text) => text.includes(`"name":"${name}"`));
  assert.ok(line, `${pod} has no log line for ${String(name)}`);
  return (JSON.parse(line) as { time: number }).time;
}
