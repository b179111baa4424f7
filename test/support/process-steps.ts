// Tests the state machine that decides how the process ends: one test for each step from one state to the next.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { next, type Action, type Event, type State } from '../../src/process/signals-and-errors.ts';

type Row = readonly [title: string, state: State, event: Event, after: State, ...actions: readonly Action[]];

/**
 * `follows()` defines one test for each row of a table of state transitions. The test expects that the row's event, in
 * the row's first state, leads to the row's second state and its actions.
 */
export function follows(rows: readonly Row[]): void {
  for (const [title, state, event, after, ...actions] of rows) {
    test(title, () => {
      assert.deepEqual(next(state, event), [after, ...actions]);
    });
  }
}
