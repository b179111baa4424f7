import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aloneApi } from '../../../src/leader-election/api-client/alone.ts';
import { ElectionEvents } from '../../../src/leader-election/loop/events.ts';
import { FakeClock, settled } from '../../support/fake-clock.ts';
import { electionOf, wall } from '../support/election.ts';

test('L-112 after a 403 an elector creates no further Events, even if the response to an earlier Event arrives later', async () => {
  const replies: ((isPermitted: boolean) => void)[] = [];
  const record = (): Promise<boolean> => new Promise((resolve) => replies.push(resolve));
  const api = { ...aloneApi(1), record };
  const events = new ElectionEvents(electionOf('a'), new FakeClock(), () => wall);
  events.record(api, 'u', 'a became leader');
  events.record(api, 'u', 'a stopped leading');
  const [first, second] = replies;
  second?.(false);
  await settled();
  first?.(true);
  await settled();
  events.record(api, 'u', 'a became leader');
  assert.equal(replies.length, 2);
});
