// Reads an event stream as an EventSource does, until the server ends or truncates the stream.
import { request } from 'node:http';
import { accountOf, OneConnection, type Account, type Target } from './exchange.ts';

/**
 * followEvents reads an event stream. It resolves when the stream has ended, or at once when `stopped` is aborted. It
 * never rejects.
 */
export function followEvents({ host, port }: Target, path: string, stopped: AbortSignal): Promise<Account> {
  return new Promise((resolve) => {
    const agent = new OneConnection({ host, port }, { keepAlive: false });
    const headers = { Accept: 'text/event-stream' };
    const end = (account: Account): void => {
      stopped.removeEventListener('abort', disconnect);
      agent.destroy();
      resolve(account);
    };
    const sent = request({ host, port, path, headers, agent }, (response) => {
      const { statusCode: status = 0 } = response;
      response.resume();
      response.once('error', ({ message }) => {
        end({ kind: 'lost', why: `${message} within the stream` });
      });
      response.once('end', () => {
        end(response.complete ? accountOf(status) : { kind: 'lost', why: 'truncated stream' });
      });
    });
    const disconnect = (): void => {
      end({ kind: 'answered', status: 200 });
      sent.destroy();
    };
    stopped.addEventListener('abort', disconnect);
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const why = error.code ?? error.message;
      end(agent.wasAccepted ? { kind: 'lost', why, isUnanswered: true } : { kind: 'refused', why });
    });
    sent.end();
  });
}
