// Formats the JSON document of a debug socket as lines of text. No I/O.
import type { Inspection } from '../../inspection.ts';
import { formatDuration } from '../../settings/duration.ts';

// The width of the progress bar of a shutdown, in characters. With this width, the whole line fits into a terminal of
// 80 columns.
const barWidth = 30;

/**
 * pageOf returns the lines that describe a process. The lists that can become long are last, because `--watch` shows
 * only the lines that fit into the terminal.
 */
export function pageOf(found: Inspection): string[] {
  const { pid, version, requestsInFlight, longRunningRequests, connections, leadership, previousRun } = found;
  const { http1, http2, upgraded } = connections;
  const lines = [
    row('process', `${String(pid)}, lameduck ${version}`),
    row('state', stateOf(found)),
    ...(found.shutdown === undefined ? [] : [row('budget', barOf(found.shutdown))]),
    row('event loop', eventLoopOf(found)),
    row('requests', `${String(requestsInFlight)} in flight, ${String(longRunningRequests)} long-running`),
    row('connections', `${String(http1)} HTTP/1.1, ${String(http2)} HTTP/2, ${String(upgraded)} upgraded`),
    ...list(
      'leadership',
      leadership.map(({ name, isLeader }) => `${name}: ${isLeader ? 'leader' : 'follower'}`),
    ),
    ...(previousRun === undefined ? [] : [row('previous run', `${previousRun.outcome} ${previousRun.phase}`.trim())]),
    ...list('signals', signalLines(found)),
    ...list('waits for', waitsOf(found)),
    ...list('stack', found.eventLoop.stack ?? []),
    ...list('settings', settingLines(found)),
  ];
  return lines.map(printable);
}

/** signalLines returns one line for each lifecycle signal that has fired. */
export function signalLines({ signals }: Inspection): string[] {
  return signals.map(({ name, at, durationMs }) => `${at}  ${name}, after ${formatDuration(durationMs)}`);
}

function settingLines({ settings }: Inspection): string[] {
  const set = Object.entries(settings).filter(([, { source }]) => source !== 'default');
  return set.map(([name, { value, source }]) => `${name} ${value} (${source})`);
}

function stateOf({ signals, shutdown, isHeldUnready }: Inspection): string {
  if (shutdown !== undefined) return `shutting down: ${shutdown.reason}`;
  if (!signals.some(({ name }) => name === 'HasBeenReady')) return 'starting';
  return isHeldUnready ? 'running, /readyz fails because of --unready' : 'running';
}

function barOf({ elapsedMs, budgetMs, remainingMs }: Inspection['shutdown'] & {}): string {
  const share = budgetMs === 0 ? 1 : Math.min(1, elapsedMs / budgetMs);
  const done = Math.round(share * barWidth);
  const bar = '#'.repeat(done).padEnd(barWidth, '.');
  return `[${bar}] ${inSeconds(elapsedMs)} of ${inSeconds(budgetMs)}, ${inSeconds(remainingMs)} left`;
}

function eventLoopOf({ eventLoop: { isBlocked, blockedMs, stackProblem }, ageMs }: Inspection): string {
  const why = stackProblem === undefined ? '' : `; no stack: ${stackProblem}`;
  if (!isBlocked) return `runs${why}`;
  return `blocked for ${inSeconds(blockedMs)}; this page shows the state of ${inSeconds(ageMs)} ago${why}`;
}

function waitsOf({ runningHooks, oldestRequests }: Inspection): string[] {
  return [
    ...runningHooks.map(({ kind, name, ageMs }) => `${kind} hook "${name}" for ${inSeconds(ageMs)}`),
    ...oldestRequests.map(
      ({ method, route, peer, ageMs }) => `${method} ${route} from ${peer} for ${inSeconds(ageMs)}`,
    ),
  ];
}

function list(name: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => row(index === 0 ? name : '', line));
}

function row(name: string, text: string): string {
  return `${name.padEnd(14)}${text}`;
}

function inSeconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)}s`;
}

// Replaces control characters. A route may contain any characters, and a terminal executes some of them.
function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]/gu, '?');
}
