// Writes the section "How long does the drain of very many streams take?" of docs/benchmarks.md.
import { sessionsOf } from './kinds.ts';
import type { Drain, InMemory } from './streams.ts';

/** `grace` is the default of `shutdownWatchTerminationGracePeriod`, in milliseconds. */
const grace = 10_000;
/** `slowest` is the minimum rate at which lameduck ends streams during the drain, in streams per second. */
const slowest = 200;

export function streamsSection(drains: readonly Drain[], inMemory: InMemory): string[] {
  const http2 = drains.find(({ kind }) => kind === 'HTTP/2 streams');
  return [
    '',
    '## How long does the drain of very many streams take?',
    '',
    'A server with many open streams receives SIGTERM. The shutdown delay is 0 s, and the grace period of the streams is 10 s,',
    'the default. The drain ends streams at a limited rate: all of them within the grace period, but at least 200 per second. The',
    'column *earliest possible end of the last stream* is the time that it takes to end all streams at this rate.',
    '',
    '| kind of streams | number of streams | streams that ended cleanly | earliest possible end of the last stream, s | last stream ended after, s | process ended after, s | exit code | event loop blocked, ms: median | event loop blocked, ms: p99 | event loop blocked, ms: longest |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...drains.map(row),
    '',
    '**Method.** The server runs in one process and the clients in another, with a socket for each event stream and each WebSocket.',
    ...(http2 === undefined
      ? []
      : [`The HTTP/2 streams are on ${String(sessionsOf(http2.count))} sessions without TLS.`]),
    'A stream ended cleanly if its client got the last chunk, the end of the HTTP/2 stream, or the close code 1001. The clients leave',
    'their HTTP/1.1 connections open after that, so the process waits for one second of silence before it closes them.',
    '',
    'Another measurement drains more event streams than a process may have sockets. The connections of these streams are in memory, and the clients are',
    `in the process of the server. ${String(inMemory.whole)} of ${String(inMemory.count)} event streams ended with their last chunk, and the drain took ${seconds(inMemory.tookMs)} s.`,
    `A turn of the event loop blocked other work for ${inMemory.stillMs.median.toFixed(1)} ms in the median and for ${inMemory.stillMs.p99.toFixed(1)} ms in the 99th percentile.`,
    `The longest turn took ${inMemory.stillMs.longest.toFixed(0)} ms. The times of the turns include garbage collection.`,
  ];
}

function row({ kind, count, whole, lastEndMs, exitMs, exitCode, stillMs }: Drain): string {
  const least = Math.min(grace, (count / slowest) * 1_000);
  const cells = [
    kind,
    count,
    whole,
    seconds(least),
    seconds(lastEndMs),
    seconds(exitMs),
    exitCode,
    stillMs.median.toFixed(1),
    stillMs.p99.toFixed(1),
    stillMs.longest.toFixed(0),
  ];
  return `| ${cells.map(String).join(' | ')} |`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1);
}
