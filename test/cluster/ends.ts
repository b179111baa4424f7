// How containers have ended: each by its exit code, the final line of its log, and what the scrapes and the clients saw of it.
import assert from 'node:assert/strict';
import type { ShutdownRecord } from '../../src/observer.ts';
import type { Run } from './kubernetes.ts';
import type { Load } from './load.ts';
import type { Scraper } from './scraper.ts';

/** The clients count by the second, and on a busy machine their seconds are longer by up to so many milliseconds. */
const slack = 1500;

/**
 * The longest time between two answered scrapes, in milliseconds. The probe thread waits up to 5.5 s for a busy main
 * thread before it sends the last metrics. The scraper sends its next request after the answer.
 */
const longestSilence = 6500;

/** recordOf returns the final line of a run that has ended; it fails when there is none. */
export function recordOf({ pod, lines }: Run): ShutdownRecord {
  const last = lines.at(-1) ?? 'nothing at all';
  const record = (last.startsWith('{') ? JSON.parse(last) : {}) as Partial<ShutdownRecord>;
  assert.equal(record.schema, 'lameduck/shutdown/v1', `${pod} has no final line, its log ends with: ${last}`);
  return record as ShutdownRecord;
}

/** assertEndedWell holds a run against what every end must be: by itself, inside the budget, with nothing left. */
export function assertEndedWell(run: Run): void {
  const record = recordOf(run);
  const { unfinished, hookFailures, heldBy, requests, durationMs, budgetMs } = record;
  assert.equal(run.exitCode, 0, run.pod);
  assert.deepEqual({ unfinished, hookFailures, heldBy }, { unfinished: [], hookFailures: [], heldBy: [] }, run.pod);
  assert.deepEqual([requests.cut, requests.refused], [0, 0], run.pod);
  assert.ok(durationMs < budgetMs, `${run.pod} took ${String(durationMs)} ms of ${String(budgetMs)}`);
}

/** assertToldAlike holds what the final line tells of requests against what the clients have counted meanwhile. */
export function assertToldAlike(run: Run, load: Load): void {
  const { requests } = recordOf(run);
  const [began, ended] = [timeOf(run, 'ShutdownInitiated'), timeOf(run)];
  const answeredBetween = (from: number, to: number) =>
    load.seconds
      .filter(({ at }) => at > from && at <= to)
      .reduce((sum, { pods }) => sum + (pods[run.pod]?.answered ?? 0), 0);
  const most = answeredBetween(began, ended + 1000 + slack);
  const least = answeredBetween(began + 1000 + slack, ended);
  const told = `${run.pod} tells of ${String(requests.answered)} answers, the clients of ${String(least)} to ${String(most)}`;
  assert.ok(requests.answered >= least && requests.answered <= most, told);
}

/**
 * assertScraped holds the scrapes of a pod against its final line: from the first on there were answers until its end. A
 * container that has never been ready may have ended before the first.
 */
export function assertScraped(run: Run, scraper: Scraper): void {
  if (!run.lines.some((line) => line.includes('"name":"HasBeenReady"'))) return;
  const [began, ended] = [timeOf(run, 'MuxAndDiscoveryComplete'), timeOf(run)];
  const its = (scraper.pods.get(run.pod) ?? []).filter(({ at }) => at > began && at < ended);
  const last = its.at(-1);
  assert.ok(last, `${run.pod} was never scraped`);
  its.forEach(({ at }, index) => {
    const silence = (its[index + 1]?.at ?? ended) - at;
    const when = `${String(at - began)} ms behind its start, ${String(ended - at)} ms ahead of its end`;
    assert.ok(silence < longestSilence, `${run.pod} was silent for ${String(silence)} ms, ${when}`);
  });
  assert.ok(last.isShuttingDown, `${run.pod} did not say that it shuts down`);
  assert.ok(last.answered <= recordOf(run).requests.answered, run.pod);
}

/** When the log says that a signal fired, or by default its last word. */
export function timeOf({ pod, lines }: Run, name?: string): number {
  const line = name === undefined ? lines.at(-1) : lines.find((text) => text.includes(`"name":"${name}"`));
  assert.ok(line, `${pod} says nothing of ${String(name)}`);
  return (JSON.parse(line) as { time: number }).time;
}
