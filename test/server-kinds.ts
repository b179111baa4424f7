// A reporter of node:test for docs/conformance.md. For each rule, it records the kinds of server, such as Fastify, with
// which the tests of the rule have passed. It finds the kind of server in the name of the suite or in the path of the
// test file.
import { join, relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { serverKinds, type ServerKind } from './support/adapters.ts';

const kindOfPath: readonly (readonly [string, ServerKind])[] = [
  [join('test', 'fastify', 'http2'), 'Fastify HTTP/2'],
  [join('test', 'fastify'), 'Fastify'],
  [join('test', 'register'), 'register'],
];

interface Result {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly skip?: string | boolean;
  readonly details?: { readonly type?: string };
}

/**
 * A reporter for Node's test runner. It prints one JSON object, which maps each rule number to the kinds of server on
 * which the rule was tested.
 */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = [];
  const kinds = new Map<string, Set<ServerKind>>();
  for await (const { type, data } of events) {
    if (type !== 'test:start' && type !== 'test:pass') continue;
    const result = data as Result;
    if (type === 'test:start') path.splice(result.nesting, Infinity, result.name);
    else if (result.details?.type !== 'suite' && result.skip === undefined) {
      const kind = kindOf(path.slice(0, result.nesting), result.file);
      if (kind === undefined) continue;
      const [cited = ''] = /^([A-Z]+-\d+,? ?)*/.exec(result.name) ?? [];
      for (const [number] of cited.matchAll(/[A-Z]+-\d+/g)) {
        kinds.set(number, (kinds.get(number) ?? new Set()).add(kind));
      }
    }
  }
  yield JSON.stringify(Object.fromEntries([...kinds].map(([number, all]) => [number, [...all]])));
}

function kindOf(suites: readonly string[], file: string | undefined): ServerKind | undefined {
  const named = suites.map((suite) => suite.split(',', 1)[0]);
  const path = relative(process.cwd(), file ?? '');
  return (
    serverKinds.find((kind) => named.includes(kind)) ?? kindOfPath.find(([prefix]) => path.startsWith(prefix))?.[1]
  );
}
