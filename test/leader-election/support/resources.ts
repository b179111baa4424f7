// Counts the resources that stopped electors could leak: handles, sockets, timers and event listeners.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/**
 * Resources says how many handles, sockets and timers are active, and how many event listeners the process and its
 * client sockets have.
 */
export interface Resources {
  readonly active: number;
  readonly listeners: number;
}

/**
 * countingResources returns a function that counts handles, sockets, timers and event listeners. It counts only client
 * sockets that were opened after the call of countingResources.
 */
export function countingResources(t: { after: (end: () => void) => void }): () => Resources {
  const sockets = new Set<Socket>();
  const onSocket = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  subscribe('net.client.socket', onSocket);
  t.after(() => {
    unsubscribe('net.client.socket', onSocket);
  });
  return () => ({
    active: process.getActiveResourcesInfo().length,
    listeners: [process, ...sockets].reduce((sum, emitter) => sum + listenersOf(emitter), 0),
  });
}

function listenersOf(emitter: EventEmitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}
