// The kubelet's httpGet probe: what it sends, how long it waits, and what it makes of the answer.
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectSecure, type TLSSocket } from 'node:tls';

/** HttpGet is the action of a probe, with the names of the pod's specification. */
export interface HttpGet {
  readonly port: number;
  readonly path?: string;
  /** The address of the pod. */
  readonly host?: string;
  readonly scheme?: 'HTTP' | 'HTTPS';
  readonly httpHeaders?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
}

export interface Verdict {
  /** Unknown is thrown away: it changes nothing about the container. */
  readonly result: 'success' | 'failure' | 'unknown';
  readonly output: string;
  readonly status: number | undefined;
  readonly attempts: number;
  readonly tookMs: number;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: Readable;
}

// An attempt that ends in an error, and not in a failure, is made anew.
const mostAttempts = 3;
const mostRequests = 10;
const longestBody = 10_240;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** runProbe probes once. It never rejects. */
export async function runProbe(action: HttpGet): Promise<Verdict> {
  const since = performance.now();
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt(action);
    if (outcome.result !== 'unknown' || attempts === mostAttempts) {
      return { ...outcome, attempts, tookMs: performance.now() - since };
    }
  }
}

async function attempt(action: HttpGet): Promise<Pick<Verdict, 'result' | 'output' | 'status'>> {
  const { host = '127.0.0.1', port, path = '/', scheme = 'HTTP', timeoutSeconds = 1 } = action;
  const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
  const name = isIP(host) === 6 ? `[${host}]` : host;
  let url = new URL(path, `${scheme.toLowerCase()}://${name}:${String(port)}`);
  for (let requests = 1; requests <= mostRequests; requests++) {
    let answer: Answer;
    try {
      answer = await ask(url, host, action, signal);
    } catch (error) {
      return { result: 'failure', output: String(error), status: undefined };
    }
    const { status, location, body } = answer;
    const next = redirects.includes(status) && location !== undefined ? new URL(location, url) : undefined;
    if (next?.hostname !== url.hostname) return judge(status, body);
    body.destroy();
    url = next;
  }
  return { result: 'failure', output: 'stopped after 10 redirects', status: undefined };
}

async function judge(status: number, body: Readable): Promise<Pick<Verdict, 'result' | 'output' | 'status'>> {
  let text = '';
  try {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.length >= longestBody) break;
    }
  } catch (error) {
    return { result: 'unknown', output: String(error), status };
  }
  if (status >= 200 && status < 400) return { result: 'success', output: text.slice(0, longestBody), status };
  return { result: 'failure', output: `HTTP probe failed with statuscode: ${String(status)}`, status };
}

function ask(url: URL, address: string, { httpHeaders = {} }: HttpGet, signal: AbortSignal): Promise<Answer> {
  const headers = {
    Host: url.host.includes(':') && url.port !== '' ? url.host : `${url.host}:${url.port === '' ? '80' : url.port}`,
    'User-Agent': 'kube-probe/1.36',
    Accept: '*/*',
    ...httpHeaders,
  };
  const options = { path: `${url.pathname}${url.search}`, headers: { ...headers, Connection: 'close' }, signal };
  const port = Number(url.port || 80);
  if (url.protocol === 'http:') return plain({ ...options, host: address, port, agent: false });
  return secure(address, port, signal).then((socket) =>
    socket.alpnProtocol === 'h2'
      ? overHttp2(socket, options.path, headers, signal)
      : plain({ ...options, createConnection: () => socket }),
  );
}

function plain(options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = requestPlain(options, (response: IncomingMessage) => {
      resolve({ status: response.statusCode ?? 0, location: response.headers.location, body: response });
    });
    asked.on('error', reject).end();
  });
}

// Without a name of the server where it is an address, and without a look at the certificate.
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
  { Host, ...headers }: Readonly<Record<string, string>> & { readonly Host: string },
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
