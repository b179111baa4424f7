// Tests how long the drain waits for a socket that a front server has accepted but not yet passed to the HTTP server. A
// front server is a server of the program that passes its sockets to an HTTP server.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { FrontSockets } from '../../../src/http/http1/front-sockets.ts';

const silence = 1_000;

/**
 * accepted returns a socket that a front server has accepted at 0 ms, and the FrontSockets object that has the record
 * of this socket.
 */
function accepted(bytesRead = 0): { sockets: FrontSockets; socket: { bytesRead: number; destroyed: boolean } } {
  const sockets = new FrontSockets();
  const socket = { bytesRead, destroyed: false };
  sockets.add(socket as unknown as Socket, 0);
  return { sockets, socket };
}

test('the drain waits one second for the first byte on a socket that a front server has accepted, and one more second until the front server passes the socket to an HTTP server', () => {
  const { sockets, socket } = accepted();
  assert.equal(sockets.isAnyAwaited(900, silence), true);
  socket.bytesRead = 1;
  assert.equal(sockets.isAnyAwaited(950, silence), true);
  assert.equal(sockets.isAnyAwaited(1_900, silence), true);
  assert.equal(sockets.isAnyAwaited(1_950, silence), false);
});

test('if bytes that are not HTTP keep arriving on a socket of a front server, the socket delays the drain no longer than a silent socket does', () => {
  const { sockets, socket } = accepted(10);
  sockets.beginSilence(5_000);
  assert.equal(sockets.isAnyAwaited(5_900, silence), true);
  socket.bytesRead = 500;
  assert.equal(sockets.isAnyAwaited(6_000, silence), false);
});

test('the drain does not wait for a socket of a front server if the socket is closed, or if the front server has passed it to an HTTP server', () => {
  const closed = accepted();
  closed.socket.destroyed = true;
  assert.equal(closed.sockets.isAnyAwaited(1, silence), false);
  const passed = accepted();
  passed.sockets.passedOn(passed.socket as unknown as Socket);
  assert.equal(passed.sockets.isAnyAwaited(1, silence), false);
});
