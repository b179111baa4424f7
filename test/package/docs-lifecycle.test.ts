// Tests that docs/lifecycle.md and the timeline in the README agree with the code. They must have the same lifecycle
// signals, in the same order, and the same exit codes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodes, killed } from '../../src/exit-codes.ts';
import { graphOf, signalNames, type SignalName } from '../../src/lifecycle/graph.ts';
import { blocksIn, firstColumn, readPage, tablesIn } from '../support/markdown.ts';

const page = readPage('docs/lifecycle.md');

function diagramOf(file: string): string[] {
  const [diagram, ...others] = blocksIn(readPage(file)).filter(({ text }) => text.includes('ShutdownInitiated'));
  assert.ok(diagram !== undefined && others.length === 0, `${file} must have one timeline`);
  return diagram.text.split('\n');
}

function namesIn(lines: readonly string[]): string[] {
  return lines.join('\n').match(/\b[A-Z]\w+[a-z][A-Z]\w+\b/g) ?? [];
}

test('the table in docs/lifecycle.md lists the eight signals in order', () => {
  assert.deepEqual(firstColumn(page, 'signal'), [...signalNames]);
});

test('the timeline in the README lists the lifecycle signals in the order of a shutdown without shutdownSendRetryAfter', () => {
  const ofShutdown = signalNames.slice(signalNames.indexOf('ShutdownInitiated'));
  assert.deepEqual(namesIn(diagramOf('README.md')), ofShutdown);
});

for (const shutdownSendRetryAfter of [false, true]) {
  test(`the timeline in docs/lifecycle.md has the lifecycle signals in the order in which they fire if shutdownSendRetryAfter is ${String(shutdownSendRetryAfter)}`, () => {
    const diagram = diagramOf('docs/lifecycle.md');
    assert.deepEqual(new Set(namesIn(diagram)), new Set<string>(signalNames));
    // The diagram shows a signal once if the signal fires at the same point with and without shutdownSendRetryAfter.
    // The diagram shows every other signal twice: on the left for a shutdown without shutdownSendRetryAfter, and on the
    // right for a shutdown with it.
    const lineOf = (name: SignalName): number => {
      const lines = [...diagram.keys()].filter((line) => diagram[line]?.includes(name));
      const side = (line: number): number => diagram[line]?.indexOf(name) ?? 0;
      lines.sort((a, b) => side(a) - side(b));
      return (shutdownSendRetryAfter ? lines.at(-1) : lines[0]) as number;
    };
    for (const [name, { after }] of Object.entries(graphOf(shutdownSendRetryAfter))) {
      for (const earlier of after)
        assert.ok(lineOf(earlier) < lineOf(name as SignalName), `the page must show ${earlier} before ${name}`);
    }
  });
}

test('the exit codes in docs/lifecycle.md are the exit codes in the code', () => {
  const [, ...rows] = tablesIn(page).find(([head]) => head?.[0] === 'exit code') ?? [];
  const documented = rows.map(([code = '', name = '']) => [name.replaceAll('`', ''), Number(code)]);
  // A program cannot choose the exit code 137 of SIGKILL, so `exitCodes` does not contain 137. The table in
  // docs/lifecycle.md has 137 in a row without a name.
  const sigkill = { '': killed };
  assert.deepEqual(Object.fromEntries(documented), { ...exitCodes, ...sigkill });
});
