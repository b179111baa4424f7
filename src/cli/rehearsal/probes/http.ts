// The kubelet's httpGet probe: its request, its timeout, and how it treats the response.
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectSecure, type TLSSocket } from 'node:tls';
import { hostAndPort } from '../../../address.ts';
import { systemClock } from '../../../clock.ts';
import type { Attempt } from './outcome.ts';

/** HttpGet is the httpGet action of a probe or a lifecycle hook, as in the pod specification. */
export interface HttpGet {
  readonly port: number;
  readonly path?: string;
  /** `host` is the IP address of the pod. The default is 127.0.0.1. */
  readonly host?: string;
  readonly scheme?: 'HTTP' | 'HTTPS';
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  /** timeoutSeconds covers the connection, the request, the headers and the body (K-014). */
  readonly timeoutSeconds?: number;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: Readable;
}

// The largest number of requests that one HTTP probe sends: the first request, and one request after each redirect
// (K-018).
const mostRequests = 10;

/** longestBody is the largest number of bytes that the kubelet reads of a response body (K-016). */
export const longestBody = 10_240;

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** probeHttp makes one attempt of an httpGet probe. It never rejects. */
export async function probeHttp(action: HttpGet): Promise<Attempt> {
  const { timeoutSeconds = 1 } = action;
  const timeout = new AbortController();
  const cancel = systemClock.after(timeoutSeconds * 1_000, () => {
    timeout.abort(new Error('context deadline exceeded (Client.Timeout exceeded)'));
  });
  try {
    return await attempt(action, timeout.signal);
  } finally {
    cancel();
  }
}

async function attempt(action: HttpGet, signal: AbortSignal): Promise<Attempt> {
  const { host = '127.0.0.1', port, path = '/', scheme = 'HTTP' } = action;
  let url = new URL(path, `${scheme.toLowerCase()}://${hostAndPort(host, port)}`);
  for (let requests = 1; requests <= mostRequests; requests++) {
    let answer: Answer;
    try {
      answer = await ask(url, host, action, signal);
    } catch (error) {
      return { result: 'failure', output: String(signal.reason ?? error), status: undefined };
    }
    const { status, location, body } = answer;
    const next = redirects.includes(status) && location !== undefined ? new URL(location, url) : undefined;
    if (next?.hostname !== url.hostname) return judge(status, body);
    body.destroy();
    url = next;
  }
  return { result: 'failure', output: 'stopped after 10 redirects', status: undefined };
}

async function judge(status: number, body: Readable): Promise<Attempt> {
  let text = '';
  try {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.length >= longestBody) break;
    }
  } catch (error) {
    // If the response has headers but a truncated body, the kubelet counts the probe as an error. It does not count the
    // probe as failed (K-015).
    return { result: 'error', output: String(error), status };
  }
  if (status < 200 || status >= 400) {
    return { result: 'failure', output: `HTTP probe failed with statuscode: ${String(status)}`, status };
  }
  return { result: 'success', output: text.slice(0, longestBody), status, isWarning: status >= 300 };
}

function ask(url: URL, address: string, { headers: own = [] }: HttpGet, signal: AbortSignal): Promise<Answer> {
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  // Remove the brackets that `URL` puts around an IPv6 address.
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const headers = headersOf(hostAndPort(name, port), own);
  const options = { path: `${url.pathname}${url.search}`, headers: { ...headers, Connection: 'close' }, signal };
  if (!isTls) return plain({ ...options, host: address, port, agent: false });
  return secure(address, port, signal).then((socket) =>
    socket.alpnProtocol === 'h2'
      ? overHttp2(socket, options.path, headers, signal)
      : plain({ ...options, createConnection: () => socket }),
  );
}

// Adds each header that the kubelet sends by default, unless the probe sets this header. If the probe sets an empty
// Accept header, the request has no Accept header (K-020).
function headersOf(host: string, own: NonNullable<HttpGet['headers']>): Record<string, string> {
  const headers: Record<string, string> = { Host: host, 'User-Agent': 'kube-probe/1.36', Accept: '*/*' };
  for (const { name, value } of own) {
    const known = Object.keys(headers).find((key) => key.toLowerCase() === name.toLowerCase());
    headers[known ?? name] = value;
  }
  if (headers['Accept'] === '') delete headers['Accept'];
  return headers;
}

function plain(options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = requestPlain(options, (response: IncomingMessage) => {
      resolve({ status: response.statusCode ?? 0, location: response.headers.location, body: response });
    });
    asked.on('error', reject).end();
  });
}

// The kubelet does not verify the certificate, and sends no SNI for an IP address (K-025).
function secure(host: string, port: number, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const offered = { ALPNProtocols: ['h2', 'http/1.1'], rejectUnauthorized: false };
    const socket = connectSecure({ host, port, ...offered, ...(isIP(host) === 0 ? { servername: host } : {}) });
    signal.addEventListener('abort', () => socket.destroy(signal.reason as Error));
    socket.on('error', reject).once('secureConnect', () => {
      resolve(socket);
    });
  });
}

function overHttp2(
  socket: TLSSocket,
  path: string,
  { Host = '', ...headers }: Record<string, string>,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://${Host}`, { createConnection: () => socket });
    session.on('error', reject);
    const stream = session.request({ ':path': path, ...headers }, { signal });
    stream.on('close', () => {
      session.destroy();
    });
    stream.on('error', reject).on('response', (received) => {
      const { ':status': status = 0, location } = received;
      resolve({ status, location, body: stream });
    });
    stream.end();
  });
}
