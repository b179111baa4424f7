// Sends one HTTP request on a plain socket. Loading the client of `node:http` would take longer than the request.
import { connect } from 'node:net';
import { hostAndPort } from '../address.ts';
import { systemClock } from '../clock.ts';

/**
 * Unanswered is the reason why an HTTP request got no response: no host could be reached, or the time limit had passed.
 */
export type Unanswered = { readonly kind: 'unreachable'; readonly reason: string } | { readonly kind: 'late' };

/** Outcome is the HTTP response to a request, or the reason why there is no response. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly age: string | undefined; readonly body: string }
  | Unanswered;

/**
 * Place says where a request is sent: a port, and the hosts that are tried. `limit` is the time at which the request
 * times out, in milliseconds since the process started.
 */
export interface Place {
  readonly port: number;
  /** `hosts` are tried in this order. The request goes to the first host that can be reached. */
  readonly hosts: readonly string[];
  readonly limit: number;
}

/** Question describes an HTTP GET request. */
export interface Question extends Place {
  readonly target: string;
}

/** The number of bytes of a probe's response that the kubelet reads at most (K-016). */
export const longestAnswer = 10_240;

/**
 * `ask()` sends an HTTP request to the first host that can be reached. It resolves at `limit` at the latest, and never
 * rejects.
 */
export function ask({ hosts, ...question }: Question): Promise<Outcome> {
  return inTurn(hosts, (host) => askHost(host, question));
}

/**
 * inTurn sends a request to one host after another with `askOne`, until a host can be reached. If no host can be
 * reached, inTurn returns the outcome of the request to the first host.
 */
export async function inTurn<Answer extends { readonly kind: string }>(
  hosts: readonly string[],
  askOne: (host: string) => Promise<Answer>,
): Promise<Answer | Unanswered> {
  let first: Answer | undefined;
  for (const host of hosts) {
    const outcome = await askOne(host);
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
    const read = (otherwise = 'the peer did not answer with HTTP'): void => {
      end(parse(text) ?? { kind: 'unreachable', reason: otherwise });
    };
    socket.setEncoding('utf8');
    socket.on('error', ({ message }) => {
      read(message);
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > longestAnswer || split(text)?.lacking === 0) read();
    });
    socket.on('end', () => {
      read();
    });
    const head = [`GET /${target} HTTP/1.1`, `Host: ${hostAndPort(host, port)}`, 'Accept: */*', 'Connection: close'];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
  });
}

// Matches the interim responses (1xx) at the beginning of an answer. A server may send several of them before the final
// response.
const interim = /^(?:HTTP\/1\.1 1(?!01)\d\d\b[^]*?\r\n\r\n)+/;

interface Said {
  readonly head: string;
  readonly status: number;
  readonly body: string;
  /**
   * `lacking` is the number of bytes of the response body that have not arrived yet. It is undefined if the response
   * states no length. The body of such a response ends when the server closes the connection.
   */
  readonly lacking: number | undefined;
}

function split(text: string): Said | undefined {
  const [head = '', ...rest] = text.replace(interim, '').split('\r\n\r\n');
  const [, digits] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head) ?? [];
  if (digits === undefined || rest.length === 0) return undefined;
  const status = Number(digits);
  const body = rest.join('\r\n\r\n');
  return { head, status, body, lacking: status === 204 || status === 304 ? 0 : lackingOf(head, body) };
}

function lackingOf(head: string, body: string): number | undefined {
  const [, length] = /^content-length: *(\d+)$/im.exec(head) ?? [];
  return length === undefined ? undefined : Math.max(0, Number(length) - Buffer.byteLength(body));
}

function parse(text: string): Outcome | undefined {
  const said = split(text);
  if (said === undefined) return undefined;
  const { head, status, body, lacking = 0 } = said;
  // The kubelet treats a truncated response as an error (K-015). But the kubelet stops reading after `longestAnswer`
  // bytes, so it does not notice if later bytes are missing (K-016).
  if (lacking > 0 && text.length < longestAnswer) return { kind: 'unreachable', reason: 'the answer is truncated' };
  const [, age] = /^age: (\d+)$/im.exec(head) ?? [];
  return { kind: 'answered', status, age, body };
}
