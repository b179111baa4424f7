// Tests how the event log records the requests that the clients of a rehearsal lose.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventLog, type EventKind } from '../../../src/cli/rehearsal/event-log.ts';
import { LossEvents } from '../../../src/cli/rehearsal/scenario-load.ts';

test('if a scenario loses many requests, the event log combines equal losses in few events, and counts each lost request once', () => {
  const log = new EventLog(() => 0);
  const losses = new LossEvents(log);
  const loss = { client: 'newConnection', outcome: 'refused', why: 'ECONNREFUSED', afterMs: 1 } as const;
  for (let report = 0; report < 10; report++) {
    for (let index = 0; index < 100; index++) losses.add(loss);
    losses.add({ ...loss, outcome: 'lost', client: 'keptConnection' });
    losses.flush();
  }
  const countOf = (kind: EventKind): number =>
    log.of(kind).reduce((sum, { detail: { count = 1 } }) => sum + Number(count), 0);
  assert.deepEqual([countOf('requestRefused'), countOf('requestLost')], [1_000, 10]);
  assert.ok(log.events.length < 230, String(log.events.length));
});
