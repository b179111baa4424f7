// A WebSocket that stays open until its server closes it.
import { hostAndPort } from '../../../address.ts';
import { upgradeFailed } from '../load.ts';
import type { Account, Target } from './exchange.ts';

// The close code that a client sees if the connection ends without a closing handshake (RFC 6455, section 7.4.1).
const abnormalClosure = 1006;

/**
 * holdWebSocket keeps a WebSocket open. It resolves when the server has closed it, or at once when `stopped` is
 * aborted. It never rejects.
 */
export function holdWebSocket({ host, port }: Target, path: string, stopped: AbortSignal): Promise<Account> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://${hostAndPort(host, port)}${path}`);
    let isOpen = false;
    const disconnect = (): void => {
      socket.close(1000);
      resolve({ kind: 'answered', status: 101 });
    };
    stopped.addEventListener('abort', disconnect, { once: true });
    socket.addEventListener('open', () => {
      isOpen = true;
    });
    socket.addEventListener('close', ({ code }) => {
      stopped.removeEventListener('abort', disconnect);
      if (code !== abnormalClosure) resolve({ kind: 'answered', status: 101 });
      else if (isOpen) resolve({ kind: 'lost', why: 'closed with code 1006' });
      else resolve({ kind: 'refused', why: upgradeFailed });
    });
  });
}
