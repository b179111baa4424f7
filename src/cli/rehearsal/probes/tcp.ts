// The kubelet's tcpSocket probe: a TCP handshake and nothing else (K-029).
import { connect } from 'node:net';
import { systemClock } from '../../../clock.ts';
import type { Attempt } from './outcome.ts';

/** probeTcp makes one attempt of a tcpSocket probe. It never rejects. */
export function probeTcp(host: string, port: number, timeoutSeconds: number): Promise<Attempt> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (attempt: Attempt): void => {
      cancel();
      socket.destroy();
      resolve(attempt);
    };
    const cancel = systemClock.after(timeoutSeconds * 1_000, () => {
      end({ result: 'failure', output: `dial tcp ${host}:${String(port)}: i/o timeout` });
    });
    socket.once('connect', () => {
      end({ result: 'success', output: '' });
    });
    socket.once('error', ({ message }) => {
      end({ result: 'failure', output: message });
    });
  });
}
