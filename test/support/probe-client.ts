// Sends probes as the kubelet does: each probe has its own connection, a timeout, and the header `Connection: close`.
import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';

export interface Probed {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly tookMs: number;
}

export interface ProbeOptions {
  readonly host?: string;
  readonly method?: string;
  /** How long a probe waits for its response, in milliseconds. */
  readonly patience?: number;
}

/** `probe()` sends one probe. It rejects if no response arrives in time. */
export async function probe(
  port: number,
  path: string,
  { host = '127.0.0.1', method = 'GET', patience = 10_000 }: ProbeOptions = {},
): Promise<Probed> {
  const since = performance.now();
  const headers = { 'User-Agent': 'kube-probe/1.36', Accept: '*/*', Connection: 'close' };
  const asked = request({ port, path, host, method, headers, agent: false, timeout: patience });
  asked.on('timeout', () => asked.destroy(new Error(`no answer of ${path} within ${String(patience)} ms`)));
  asked.end();
  const [response] = (await once(asked, 'response')) as [
    AsyncIterable<Buffer> & { statusCode?: number; headers: IncomingHttpHeaders },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, body, tookMs: performance.now() - since };
}
