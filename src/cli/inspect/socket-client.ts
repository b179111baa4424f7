// Sends one request to a debug socket.
import { request } from 'node:http';
import type { Inspection } from '../../inspection.ts';

// How long to wait for a response of the debug socket, in milliseconds. The limit is longer than the two seconds in
// which the debug socket may read a stack.
const patience = 5_000;

/**
 * Unanswered is the error of a request to which a debug socket did not answer. Its message says why, and what the user
 * should check.
 */
export class Unanswered extends Error {}

/**
 * `inspect()` returns the document that a debug socket sends. It rejects with Unanswered if no valid document arrives.
 */
export async function inspect(socketPath: string, withStack: boolean): Promise<Inspection> {
  const body = await send(socketPath, withStack ? '/?stack' : '/', 'GET');
  try {
    const found = JSON.parse(body) as Inspection | null;
    if (found?.schema === 'lameduck/inspect/v1') return found;
  } catch {
    // The answer is not JSON, so a program other than lameduck listens on the socket `socketPath`.
  }
  throw new Unanswered(`${socketPath}: the answer is not from lameduck`);
}

/**
 * `send()` sends a request to a debug socket and resolves with the body of the answer. It rejects with Unanswered if no
 * answer arrives.
 */
export function send(socketPath: string, path: string, method: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (error: NodeJS.ErrnoException): void => {
    reject(new Unanswered(`${socketPath}: ${hints[error.code ?? ''] ?? error.message}`));
  };
  const sent = request({ socketPath, path, method, agent: false, timeout: patience }, (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (text: string) => (body += text));
    response.on('error', fail).on('end', () => {
      const { statusCode = 0 } = response;
      if (statusCode < 300) resolve(body);
      else reject(new Unanswered(`${socketPath}: status ${String(statusCode)}: ${body.trim()}`));
    });
  });
  sent.on('error', fail);
  sent.on('timeout', () => {
    sent.destroy(new Error(`no answer within ${String(patience)} ms`));
  });
  sent.end();
  return promise;
}

const hints: Readonly<Record<string, string>> = {
  ENOENT: 'there is no socket; set LAMEDUCK_DEBUG_SOCKET_PATH for the program, or pass its path with --socket',
  ECONNREFUSED: 'no process listens; the process that created the socket has ended',
  EACCES: 'permission denied; run this command as the user of the program',
};
