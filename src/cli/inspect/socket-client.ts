// One request to a debug socket.
import { request } from 'node:http';
import type { Inspection } from '../../inspection.ts';

// How long an answer may take, in milliseconds. A stack takes two seconds at most.
const patience = 5_000;

/** Unanswered is why a debug socket did not answer, with a hint. */
export class Unanswered extends Error {}

/** inspect returns the document of a debug socket. It rejects with Unanswered. */
export async function inspect(socketPath: string, withStack: boolean): Promise<Inspection> {
  const body = await send(socketPath, withStack ? '/?stack' : '/', 'GET');
  try {
    const found = JSON.parse(body) as Inspection | null;
    if (found?.schema === 'lameduck/inspect/v1') return found;
  } catch {
    // Something else answers.
  }
  throw new Unanswered(`${socketPath}: the answer is not from lameduck`);
}

/** send sends a request and returns the body of the answer. It rejects with Unanswered. */
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
  ECONNREFUSED: 'no process listens; the process that made the socket has ended',
  EACCES: 'permission denied; run this command as the user of the program',
};
