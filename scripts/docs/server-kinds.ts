// Writes the table in docs/conformance.md that shows where each rule was tested: on which kind of server, and on which
// version of Node. A table cell without a test refers to a note with the reason.
import { readFileSync } from 'node:fs';
import { serverKinds, type ServerKind } from '../../test/support/adapters.ts';

/** Passed maps the number of a rule and a kind of server to the Node versions on which a test of the rule passed. */
export type Passed = Readonly<Record<string, Partial<Record<ServerKind, readonly number[]>>>>;

const first = 1;
const last = 55;
/** `numbers` has the rules P-001 to P-055, which the tests check with every kind of server, such as HTTP/2 over TLS. */
export const numbers = Array.from({ length: last }, (_, index) => `P-${String(index + first).padStart(3, '0')}`);

/** `majors` are the major versions of Node on which the tests run. */
export const majors = [22, 24, 26];

export const file = new URL('./server-kinds.json', import.meta.url);

interface Reason {
  readonly numbers: readonly number[];
  readonly kinds: readonly ServerKind[];
  readonly text: string;
}

const clear: readonly ServerKind[] = ['node:http', 'Fastify', 'register'];
const secure: readonly ServerKind[] = ['node:https', 'node:http2 over TLS', 'Fastify HTTP/2'];
const http2: readonly ServerKind[] = ['node:http2 without TLS', 'node:http2 over TLS', 'Fastify HTTP/2'];
const others = (kinds: readonly ServerKind[]): ServerKind[] => serverKinds.filter((kind) => !kinds.includes(kind));
const onlyHttp2: readonly ServerKind[] = ['node:http2 without TLS'];

/**
 * `reasons` are the notes below the table that shows which rules are tested with which kinds of servers. A note says
 * why a rule is not tested with a kind of server.
 */
const reasons: readonly Reason[] = [
  {
    numbers: [1, 2, 4, 9, 10, 12, 13, 15, 16, 17, 29, 30, 52],
    kinds: onlyHttp2,
    text: 'These rules are about HTTP/1.1 only: the `Connection` header, pipelined requests or partial heads. P-042 to P-044 cover the end of an HTTP/2 session.',
  },
  {
    numbers: [7, 18, 20, 47, 49, 50],
    kinds: onlyHttp2,
    text: 'These rules are about listeners and connections, before any HTTP is sent. The tests on all other kinds of servers, which use HTTP/1.1, cover them.',
  },
  {
    numbers: [37, 38],
    kinds: onlyHttp2,
    text: 'P-037 and P-038 are about the rate limiter of the drain. The same rate limiter ends long-running requests of HTTP/1.1 and of HTTP/2. P-036 tests it with HTTP/2.',
  },
  {
    numbers: [39, 41],
    kinds: onlyHttp2,
    text: 'P-039 and P-041 are about upgraded connections. In HTTP/2, a connection cannot be upgraded to another protocol.',
  },
  {
    numbers: [14],
    kinds: secure,
    text: 'P-014 is about half-open connections. A TLS socket of Node has no half-open state.',
  },
  {
    numbers: [14],
    kinds: onlyHttp2,
    text: 'P-014 is about half-open connections. In HTTP/2, nearly every request half-closes its stream with END_STREAM.',
  },
  {
    numbers: [31],
    kinds: others(['node:http', 'Fastify']),
    text: 'P-031 is about injected requests. Requests can be injected only into the router of Fastify and into a server of node:http.',
  },
  {
    numbers: [42, 43, 44, 45],
    kinds: others([...http2, 'register']),
    text: 'P-042 to P-045 are about HTTP/2. The servers of `node:http`, `node:https` and `Fastify` in this table support only HTTP/1.1.',
  },
  {
    numbers: [45],
    kinds: ['register'],
    text: 'P-045 is about a server that supports HTTP/1.1 and HTTP/2, which needs TLS. Under `register`, servers are tested only without TLS.',
  },
  { numbers: [46], kinds: serverKinds, text: 'P-046 is about a gRPC server: `test/grpc.test.ts` tests it.' },
  {
    numbers: [48],
    kinds: [...clear, ...onlyHttp2],
    text: 'P-048 is about TLS. The servers of `node:http`, `node:http2 without TLS`, `Fastify` and `register` in this table have no TLS.',
  },
  {
    numbers: [54],
    kinds: [...onlyHttp2, 'register'],
    text: 'P-054 is about a server that never listened. Such a server has sent nothing, so the result is the same for every kind of server. Under `register`, a server has no lifecycle before it listens.',
  },
];

/** passedSoFar reads which rules passed on which kinds of servers in the last recorded test run. */
export function passedSoFar(): Passed {
  return JSON.parse(readFileSync(file, 'utf8')) as Passed;
}

/**
 * serverKindsTable returns the section "Kinds of servers" of docs/conformance.md. It also returns a problem for each
 * cell of the table that has neither a test nor a note.
 */
export function serverKindsTable(passed: Passed): {
  readonly lines: readonly string[];
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const cellOf = (number: string, kind: ServerKind): string => {
    const on = passed[number]?.[kind] ?? [];
    const name = `\`${kind}\``;
    if (majors.every((major) => on.includes(major))) return `tested on ${name}`;
    const index = reasons.findIndex((one) => one.kinds.includes(kind) && one.numbers.includes(Number(number.slice(2))));
    if (on.length > 0) return `tested on ${name} with Node ${on.join(', ')}`;
    if (index === -1)
      problems.push(`${number} has no test on ${kind}, and scripts/docs/server-kinds.ts gives no reason for it`);
    return `not tested on ${name}: note ${String(index + 1)}`;
  };
  const rows = numbers.map(
    (number) => `| ${[number, ...serverKinds.map((kind) => cellOf(number, kind))].join(' | ')} |`,
  );
  const lines = [
    '## Kinds of servers',
    '',
    `This table shows which rules are tested on which kind of server. *Tested* means that the tests pass on Node ${majors.join(', ')}. The`,
    'notes are below the table, and say why there is no test. `node:http2 over TLS` and `Fastify HTTP/2` have `allowHTTP1`, and are',
    'tested with both protocols. The table is written by the test runs on all three versions.',
    '',
    `| number of the rule | ${serverKinds.map((kind) => `\`${kind}\``).join(' | ')} |`,
    `| --- |${' --- |'.repeat(serverKinds.length)}`,
    ...rows,
    '',
    ...reasons.map(({ text }, index) => `${String(index + 1)}. ${text}`),
  ];
  return { lines, problems };
}
