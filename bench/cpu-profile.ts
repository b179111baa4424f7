// Divides the time in a CPU profile between the sources of the code: the files of lameduck, Node, npm packages, and the
// measured program.
import type { Profiler } from 'node:inspector';
import { sep } from 'node:path';
import { median } from './statistics.ts';

/**
 * Parts maps each source of code to the CPU time that its code used. A source is a file of lameduck, Node, an npm
 * package, or the measured program. The entries are in descending order of their CPU time.
 */
export type Parts = Readonly<Record<string, number>>;

const ownPart = 'lameduck, ';

/** samplingInterval is the time between two samples of a CPU profile, in microseconds. */
export const samplingInterval = 200;

/**
 * partsOf returns the CPU time, in microseconds, of each source of code: each file of lameduck, Node, each npm package,
 * and the program. Time in which the thread was idle is not included. While a function calls another function, the time
 * counts only for the called function.
 */
export function partsOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Parts {
  const parts = new Map<string, number>();
  const partOfNode = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  for (const [index, id] of samples.entries()) {
    const part = partOfNode.get(id);
    // Skip the first sample of the CPU profile, because it covers the time in which the profiler itself started.
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

/**
 * ofLameduck tells whether a key of Parts names a file of lameduck. Other keys are, for example, "the program" and
 * "native code".
 */
export function ofLameduck(part: string): boolean {
  return part.startsWith(ownPart);
}

/**
 * medianParts returns, for each source of code, the median of its CPU times in several profiles. If a source is missing
 * in a profile, its CPU time in this profile counts as 0.
 */
export function medianParts(profiles: readonly Parts[]): Parts {
  const names = new Set(profiles.flatMap((parts) => Object.keys(parts)));
  const medians = [...names].map((name) => [name, median(profiles.map((parts) => parts[name] ?? 0))] as const);
  return Object.fromEntries(medians.sort(([, one], [, other]) => other - one));
}

/** sumOf adds the CPU times of those keys of Parts, such as files of lameduck, for which `isIncluded` returns true. */
export function sumOf(parts: Parts, isIncluded: (part: string) => boolean): number {
  return Object.entries(parts).reduce((sum, [part, time]) => (isIncluded(part) ? sum + time : sum), 0);
}

/** largestFiles returns a text with the `count` files of lameduck that used most CPU time, each with its CPU time. */
export function largestFiles(parts: Parts, count: number, text: (time: number) => string): string {
  return Object.entries(parts)
    .filter(([part]) => ofLameduck(part))
    .slice(0, count)
    .map(([part, time]) => `${part.slice(ownPart.length)} ${text(time)}`)
    .join(', ');
}
