// Writes the section of docs/benchmarks.md about the start and the end of a process.
import { cells } from '../format.ts';
import { ways, type Start, type Way } from './start.ts';

const titles: Readonly<Record<Way, string>> = {
  bare: 'bare `node:http`',
  code: '`lameduck(server)`',
  register: '`lameduck/register`',
};

export function startSection(start: Start): string[] {
  const { byWay } = start;
  return [
    '',
    '## Does lameduck delay the start or the exit of a process?',
    '',
    '| server | time from the start to the first response, ms | ratio to bare | longest turn of the event loop in the first 1.5 s, ms |',
    '| --- | --- | --- | --- |',
    ...ways.map((way) => {
      const { firstResponse, longestTurn } = byWay[way];
      const ratio = (firstResponse / byWay.bare.firstResponse).toFixed(3);
      return `| ${titles[way]} | ${firstResponse.toFixed(1)} | ${ratio} | ${longestTurn.toFixed(1)} |`;
    }),
    '',
    `If a process has loaded \`node:http\`, \`require('lameduck')\` takes ${start.require.toFixed(1)} ms and \`import('lameduck')\` takes ${start.import.toFixed(1)} ms.`,
    '',
    'In another measurement, a process without a shutdown delay receives SIGTERM while a request is in flight. After the client has',
    `received the response and closed the connection, the process ends within ${start.exit.toFixed(0)} ms.`,
    '',
    `**Method.** Each time is the median of ${String(start.runs)} processes, and processes of each kind are started in turn. The time of the first response is`,
    'measured from the start of the process. The client connects as soon as the server listens. Each process with lameduck has a probe',
    'port. The processes use the built package.',
    '',
    'In further processes, a profiler samples the main thread from the first line of the program until the first response has been sent.',
    "The start of Node itself, before that line, is not in this table. *Node's loading of modules* includes the compilation of each file",
    'by V8. The profiler makes this start longer than the start in the table above.',
    '',
    '| part of the process | bare `node:http`, ms | `lameduck(server)`, ms |',
    '| --- | --- | --- |',
    ...Object.entries(start.parts.code).map(([part, time]) =>
      cells(part, (start.parts.bare[part] ?? 0).toFixed(1), time.toFixed(1)),
    ),
  ];
}
