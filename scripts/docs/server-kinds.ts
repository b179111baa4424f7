// The table of docs/conformance.md of what has passed on which kind of server and which Node, and why a cell is empty.
import { readFileSync } from 'node:fs';
import { serverKinds, type ServerKind } from '../../test/support/adapters.ts';

/** Passed is, by number and kind of server, the major versions of Node on which a test of it has passed. */
export type Passed = Readonly<Record<string, Partial<Record<ServerKind, readonly number[]>>>>;

const first = 1;
const last = 55;
/** numbers are the statements that hold for servers of every kind. */
export const numbers = Array.from({ length: last }, (_, index) => `P-${String(index + first).padStart(3, '0')}`);

/** majors are the versions of Node that the tests run on. */
export const majors = [22, 24, 26];

export const file = new URL('./server-kinds.json', import.meta.url);

interface Reason {
  readonly numbers: readonly number[];
  readonly kinds: readonly ServerKind[];
  readonly text: string;
}

const clear: readonly ServerKind[] = ['node:http', 'Fastify', 'register'];
const secure: readonly ServerKind[] = ['node:https', 'node:http2 over TLS', 'Fastify HTTP/2'];
const http2: readonly ServerKind[] = ['node:http2 in clear text', 'node:http2 over TLS', 'Fastify HTTP/2'];
const others = (kinds: readonly ServerKind[]): ServerKind[] => serverKinds.filter((kind) => !kinds.includes(kind));
const onlyHttp2: readonly ServerKind[] = ['node:http2 in clear text'];

/** reasons say why a statement has no test on a kind of server; each is a note below the table. */
const reasons: readonly Reason[] = [
  {
    numbers: [1, 2, 4, 9, 10, 12, 13, 15, 16, 17, 29, 30, 52],
    kinds: onlyHttp2,
    text: 'It is about the text of HTTP/1.1: its `Connection` header, its pipelines, its heads in pieces. A session of HTTP/2 leaves as P-042 to P-044 say.',
  },
  {
    numbers: [7, 18, 20, 47, 49, 50],
    kinds: onlyHttp2,
    text: 'It is about listeners and connections, before any protocol is spoken; shown with HTTP/1.1 on every other kind.',
  },
  {
    numbers: [37, 38],
    kinds: onlyHttp2,
    text: 'One limiter ends requests of either protocol; P-036 shows it at work on this one.',
  },
  { numbers: [39, 41], kinds: onlyHttp2, text: 'Nothing is upgraded on HTTP/2.' },
  { numbers: [14], kinds: secure, text: 'A TLS socket of Node has no half-open state.' },
  { numbers: [14], kinds: onlyHttp2, text: 'A stream is half closed by END_STREAM, as nearly every request is.' },
  {
    numbers: [31],
    kinds: others(['node:http', 'Fastify']),
    text: 'Requests are injected into Fastify’s router and into a server of node:http.',
  },
  { numbers: [42, 43, 44, 45], kinds: others([...http2, 'register']), text: 'HTTP/1.1 only.' },
  { numbers: [45], kinds: ['register'], text: 'Shown in clear text, where a server speaks one protocol.' },
  { numbers: [46], kinds: serverKinds, text: 'It is about a gRPC server: `test/grpc.test.ts`.' },
  { numbers: [48], kinds: [...clear, ...onlyHttp2], text: 'There is no TLS.' },
  {
    numbers: [54],
    kinds: [...onlyHttp2, 'register'],
    text: 'As on the other kinds before anything is spoken; under `register` a server has its lifecycle only once it listens.',
  },
];

/** passedSoFar returns what the last run that was kept has shown. */
export function passedSoFar(): Passed {
  return JSON.parse(readFileSync(file, 'utf8')) as Passed;
}

/** serverKindsTable returns the table with its notes, and what is wrong with it: a cell that is empty for no reason. */
export function serverKindsTable(passed: Passed): {
  readonly lines: readonly string[];
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const cellOf = (number: string, kind: ServerKind): string => {
    const on = passed[number]?.[kind] ?? [];
    if (majors.every((major) => on.includes(major))) return '✓';
    const index = reasons.findIndex((one) => one.kinds.includes(kind) && one.numbers.includes(Number(number.slice(2))));
    if (on.length > 0) return on.join(' ');
    if (index === -1) problems.push(`${number} has no test on ${kind}, and scripts/docs/server-kinds.ts no reason`);
    return String(index + 1);
  };
  const rows = numbers.map(
    (number) => `| ${[number, ...serverKinds.map((kind) => cellOf(number, kind))].join(' | ')} |`,
  );
  const lines = [
    '## Kinds of servers',
    '',
    `What has passed on which kind of server, on Node ${majors.join(', ')}: ✓ is on all of them. \`node:http2 over TLS\` and \`Fastify HTTP/2\``,
    'have `allowHTTP1`, and are asked by both protocols. Written by the run of all three; a number is the note that says why not.',
    '',
    `| | ${serverKinds.map((kind) => `\`${kind}\``).join(' | ')} |`,
    `| --- |${' --- |'.repeat(serverKinds.length)}`,
    ...rows,
    '',
    ...reasons.map(({ text }, index) => `${String(index + 1)}. ${text}`),
  ];
  return { lines, problems };
}
