// A prober as the kubelet is one: a connection of its own for each probe, `Connection: close`, and no answer waited for too long.
import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';

export interface Probed {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly tookMs: number;
}

export interface ProbeOptions {
  readonly host?: string;
  readonly method?: string;
  /** In milliseconds. */
  readonly patience?: number;
}

/** probe sends one probe. It rejects if no answer arrives in time. */
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

/** freePort returns a port that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** freePorts returns as many of them, each another one. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
