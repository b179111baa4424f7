// Divides the time of a CPU profile between the parts of a process: lameduck, Node, the packages and the program.
import type { Profiler } from 'node:inspector';
import { sep } from 'node:path';
import { median } from './statistics.ts';

/** Parts holds a CPU time for each part of a process. The parts are sorted: the part that used most time is first. */
export type Parts = Readonly<Record<string, number>>;

const ownPart = 'lameduck, ';

/** samplingInterval is the time between two samples of a profile, in microseconds. */
export const samplingInterval = 200;

/**
 * partsOf returns the microseconds that each part of the process used, without the time in which its thread was idle.
 * The profiler counts the time of a function without the functions that it calls.
 */
export function partsOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Parts {
  const parts = new Map<string, number>();
  const partOfNode = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  for (const [index, id] of samples.entries()) {
    const part = partOfNode.get(id);
    // The time before the first sample is that of the start of the profiler.
    if (part !== undefined && index > 0) parts.set(part, (parts.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return Object.fromEntries([...parts].sort(([, one], [, other]) => other - one));
}

function partOf({ functionName, url }: Profiler.Profile['nodes'][number]['callFrame']): string | undefined {
  if (functionName === '(idle)' || functionName === '(root)') return undefined;
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (url === '') return 'native code';
  if (/^node:(internal\/(modules|bootstrap|main)\/|vm)/.test(url)) return "Node's loading of modules";
  if (url.startsWith('node:')) return "Node's JavaScript";
  const [, packageName] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
  if (packageName !== undefined) return `package \`${packageName}\``;
  const [, own] = /\/(?:src|dist)\/(.*)$/.exec(url.replaceAll(sep, '/')) ?? [];
  return own === undefined ? 'the program' : `${ownPart}\`${own}\``;
}

/** ofLameduck tells whether the name of a part is that of a file of lameduck. */
export function ofLameduck(part: string): boolean {
  return part.startsWith(ownPart);
}

/** medianParts returns the median of several profiles for each part. A part that a profile lacks has the time 0 there. */
export function medianParts(profiles: readonly Parts[]): Parts {
  const names = new Set(profiles.flatMap((parts) => Object.keys(parts)));
  const medians = [...names].map((name) => [name, median(profiles.map((parts) => parts[name] ?? 0))] as const);
  return Object.fromEntries(medians.sort(([, one], [, other]) => other - one));
}

/** sumOf returns the time of all parts whose name the test accepts. */
export function sumOf(parts: Parts, isIncluded: (part: string) => boolean): number {
  return Object.entries(parts).reduce((sum, [part, time]) => (isIncluded(part) ? sum + time : sum), 0);
}

/** largestFiles returns the files of lameduck that used most time, with their times. */
export function largestFiles(parts: Parts, count: number, text: (time: number) => string): string {
  return Object.entries(parts)
    .filter(([part]) => ofLameduck(part))
    .slice(0, count)
    .map(([part, time]) => `${part.slice(ownPart.length)} ${text(time)}`)
    .join(', ');
}
