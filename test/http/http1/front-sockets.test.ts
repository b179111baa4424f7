// Tests for how long the drain waits for a socket that a front has accepted but not passed to an HTTP server.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { FrontSockets } from '../../../src/http/http1/front-sockets.ts';

const silence = 1_000;

/** accepted returns the record of one socket that a front has accepted at 0 ms, and the socket. */
function accepted(bytesRead = 0): { sockets: FrontSockets; socket: { bytesRead: number; destroyed: boolean } } {
  const sockets = new FrontSockets();
  const socket = { bytesRead, destroyed: false };
  sockets.add(socket as unknown as Socket, 0);
  return { sockets, socket };
}

test('the drain waits one second for the first byte of a front socket, and one second after this byte', () => {
  const { sockets, socket } = accepted();
  assert.equal(sockets.isAnyAwaited(900, silence), true);
  socket.bytesRead = 1;
  assert.equal(sockets.isAnyAwaited(950, silence), true);
  assert.equal(sockets.isAnyAwaited(1_900, silence), true);
  assert.equal(sockets.isAnyAwaited(1_950, silence), false);
});

test('a front socket that continues to receive bytes of another protocol does not delay the drain', () => {
  const { sockets, socket } = accepted(10);
  sockets.beginSilence(5_000);
  assert.equal(sockets.isAnyAwaited(5_900, silence), true);
  socket.bytesRead = 500;
  assert.equal(sockets.isAnyAwaited(6_000, silence), false);
});

test('the drain does not wait for a front socket that is closed or that an HTTP server has received', () => {
  const closed = accepted();
  closed.socket.destroyed = true;
  assert.equal(closed.sockets.isAnyAwaited(1, silence), false);
  const passed = accepted();
  passed.sockets.passedOn(passed.socket as unknown as Socket);
  assert.equal(passed.sockets.isAnyAwaited(1, silence), false);
});
