// One question over HTTP on a plain socket: the client of `node:http` takes longer to load than the answer to come.
import { connect } from 'node:net';
import { systemClock } from '../clock.ts';

/** Outcome is an answer, or why there is none. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly age: string | undefined; readonly body: string }
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'late' };

/** Question is where to ask what, and until when, in milliseconds since the process was started. */
export interface Question {
  readonly target: string;
  readonly port: number;
  /** Asked one after another, until one can be reached. */
  readonly hosts: readonly string[];
  readonly limit: number;
}

// As much of an answer as the kubelet reads (K-016).
const longestAnswer = 10_240;

/** ask resolves within its limit. It never rejects. */
export async function ask({ hosts, ...question }: Question): Promise<Outcome> {
  let first: Outcome | undefined;
  for (const host of hosts) {
    const outcome = await askHost(host, question);
    if (outcome.kind !== 'unreachable') return outcome;
    first ??= outcome;
  }
  return first ?? { kind: 'late' };
}

function askHost(host: string, { target, port, limit }: Omit<Question, 'hosts'>): Promise<Outcome> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port });
    const end = (outcome: Outcome): void => {
      cancel();
      socket.destroy();
      resolve(outcome);
    };
    const cancel = systemClock.after(Math.max(0, limit - systemClock.now()), () => {
      end({ kind: 'late' });
    });
    const read = (): void => {
      end(parse(text) ?? { kind: 'unreachable', reason: 'what answers is no HTTP' });
    };
    socket.setEncoding('utf8');
    socket.on('error', ({ message }) => {
      end(parse(text) ?? { kind: 'unreachable', reason: message });
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > longestAnswer) read();
    });
    socket.on('end', read);
    const name = host.includes(':') ? `[${host}]` : host;
    socket.write(
      `GET /${target} HTTP/1.1\r\nHost: ${name}:${String(port)}\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
    );
  });
}

function parse(text: string): Outcome | undefined {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head) ?? [];
  if (status === undefined || rest.length === 0) return undefined;
  const [, age] = /^age: (\d+)$/im.exec(head) ?? [];
  return { kind: 'answered', status: Number(status), age, body: rest.join('\r\n\r\n') };
}
