// Tests every transition between the states of a connection.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  handshake,
  http,
  next,
  spokenIn,
  type ConnectionEvent,
  type ConnectionState,
  type Spoken,
} from '../../src/http/connection-state.ts';
import type { Session } from '../../src/http/http2/session.ts';
import type { Upgraded } from '../../src/http/upgraded/socket.ts';

const session = { is: 'session', session: {} as Session } as const;
const upgraded = { is: 'upgraded', upgraded: {} as Upgraded } as const;
const spoken: readonly Spoken[] = [handshake, http, session, upgraded];
const events: readonly ConnectionEvent[] = [http, session, upgraded, { is: 'close announced' }, { is: 'closed' }];

const closing = (after: Spoken): ConnectionState => ({ is: 'closing', after });
const closed = (after: Spoken): ConnectionState => ({ is: 'closed', after });

/**
 * `check()` applies each event to `state`. The resulting state must be the state that `changes` has for this event. If
 * `changes` has none, the event must not change `state`.
 */
function check(state: ConnectionState, changes: { readonly [Event in ConnectionEvent['is']]?: ConnectionState }): void {
  for (const event of events) {
    const after = next(state, event);
    assert.deepEqual(after, changes[event.is] ?? state, `${state.is}, ${event.is}`);
    if (!(event.is in changes)) assert.equal(after, state, 'the state must be the same object');
  }
}

test('after its TLS handshake or a plain-text request, a connection of a TLS server counts as HTTP/1.1; this connection can then become an HTTP/2 session or an upgraded socket', () => {
  const end = { 'close announced': closing(handshake), closed: closed(handshake) };
  check(handshake, { http, session, upgraded, ...end });
  check(http, { session, upgraded, 'close announced': closing(http), closed: closed(http) });
  check(session, { 'close announced': closing(session), closed: closed(session) });
  check(upgraded, { 'close announced': closing(upgraded), closed: closed(upgraded) });
});

test('after Connection: close has been sent, a connection can change only to the state closed, and a closed connection never changes its state', () => {
  for (const one of spoken) {
    check(closing(one), { closed: closed(one) });
    check(closed(one), {});
    for (const state of [one, closing(one), closed(one)]) assert.equal(spokenIn(state), one);
  }
});
