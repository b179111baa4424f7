// The measured servers: a bare server, and lameduck in the ways in which services use it.
import { join } from 'node:path';

/** Framework names the kind of server that the benchmark measures, such as Fastify or HTTP/2 over TLS. */
export type Framework = 'http' | 'fastify' | 'http2 without TLS' | 'http2 over TLS' | 'webSocket';

/**
 * Variant is one configuration of a measured server: the kind of server, how lameduck is added, and the environment
 * variables.
 */
export interface Variant {
  readonly title: string;
  readonly framework: Framework;
  /** How lameduck is added to the server: by a call in its code, by lameduck/register, or not at all (`none`). */
  readonly by: 'none' | 'code' | 'register';
  /** The environment variables of the process. */
  env(probePort: number, folder: string): Readonly<Record<string, string>>;
}

// The path of a built file, which `npm run build` writes.
const register = join(import.meta.dirname, '..', '..', 'dist', 'register.cjs');

/** execArgvOf returns the options of Node with which the process is started. */
export function execArgvOf({ by }: Variant): string[] {
  return ['--expose-gc', ...(by === 'register' ? ['--require', register] : [])];
}

const none = (): Readonly<Record<string, string>> => ({});
const withProbePort = (probePort: number): Readonly<Record<string, string>> => ({
  LAMEDUCK_PROBE_PORT: String(probePort),
});
const asInChart = (probePort: number): Readonly<Record<string, string>> => ({
  ...withProbePort(probePort),
  LAMEDUCK_PROBE_PATHS: 'off',
});

/**
 * `bare` maps each framework to a server that does not load lameduck. The benchmark compares every other server with
 * the server of the same framework in `bare`.
 */
export const bare: Readonly<Record<Framework, Variant>> = {
  http: { title: 'bare `node:http`', framework: 'http', by: 'none', env: none },
  fastify: { title: 'bare Fastify', framework: 'fastify', by: 'none', env: none },
  'http2 without TLS': {
    title: 'bare HTTP/2 without TLS',
    framework: 'http2 without TLS',
    by: 'none',
    env: none,
  },
  'http2 over TLS': { title: 'bare HTTP/2 over TLS', framework: 'http2 over TLS', by: 'none', env: none },
  webSocket: { title: 'bare `ws`', framework: 'webSocket', by: 'none', env: none },
};

/**
 * The benchmark compares each of the `variants` with a server of the same framework that does not load lameduck. The
 * first two variants do not load lameduck either, so that their results show the measurement error.
 */
export const variants: readonly Variant[] = [
  bare.http,
  bare.fastify,
  { title: 'default', framework: 'http', by: 'code', env: none },
  { title: 'as in the chart', framework: 'http', by: 'code', env: asInChart },
  { title: '`lameduck/register`', framework: 'http', by: 'register', env: withProbePort },
  { title: '`lameduck/fastify`', framework: 'fastify', by: 'code', env: none },
  { title: '`lameduck/fastify`, as in the chart', framework: 'fastify', by: 'code', env: asInChart },
  { title: 'HTTP/2 without TLS', framework: 'http2 without TLS', by: 'code', env: none },
  { title: 'HTTP/2 over TLS', framework: 'http2 over TLS', by: 'code', env: none },
  { title: 'WebSocket: a message of 5 bytes, sent back', framework: 'webSocket', by: 'code', env: none },
  {
    title: 'everything on',
    framework: 'http',
    by: 'code',
    env: (probePort, folder) => ({
      ...withProbePort(probePort),
      LAMEDUCK_METRICS_PATH: '/metrics',
      LAMEDUCK_REQUEST_TIMEOUT: '60s',
      LAMEDUCK_MAX_REQUESTS_INFLIGHT: '1000',
      LAMEDUCK_AUDIT_LOG_PATH: join(folder, 'audit.log'),
      LAMEDUCK_DEBUG_SOCKET_PATH: join(folder, 'debug.sock'),
      LAMEDUCK_CHECKPOINT_PATH: join(folder, 'checkpoint.json'),
    }),
  },
];
