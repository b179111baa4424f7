// The programs that are shown with lameduck/register: how each is started, and what it does about SIGTERM by itself.

/** Program is one of the folders of programs/, or one way of starting it. */
export interface Program {
  readonly title: string;
  /** The package that the row of the table is about; Node itself unless given. */
  readonly package?: string;
  /** What it does about SIGTERM, in the table. */
  readonly handling: string;
  readonly folder: string;
  /** Arguments of node, in the folder. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly protocol?: 'http' | 'https' | 'http2';
  /** What else is preloaded, and on which side of lameduck. */
  readonly preload?: { readonly module: string; readonly side: 'before' | 'after' };
  /** Where lameduck/register is named: in NODE_OPTIONS unless given. */
  readonly isInArguments?: boolean;
  /** The lines that its own cleanup prints; each has to be there once. */
  readonly cleanup: readonly string[];
  /** How it ends by itself, once its own cleanup has run: its exit code, or the process signal that it sends to itself. */
  readonly end: string;
  /** A path that the program answers itself, and a part of its answer. */
  readonly ownProbe?: { readonly path: string; readonly body: string };
  readonly hasAdminPort?: boolean;
  readonly hasWebSockets?: boolean;
  /** What has to be in its output when what is preloaded beside lameduck works. */
  readonly prints?: RegExp;
}

const closesAndExits = '`server.close(error => process.exit(error ? 1 : 0))`';
const openTelemetry = {
  package: '@opentelemetry/auto-instrumentations-node',
  folder: 'opentelemetry',
  args: ['main.cjs'],
  handling: `${closesAndExits}, and the listener of OpenTelemetry`,
  env: {
    OTEL_TRACES_EXPORTER: 'console',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.02',
    OTEL_NODE_RESOURCE_DETECTORS: 'none',
  },
  cleanup: ['pool closed'],
  end: '0',
  prints: /instrumentationScope[^]*@opentelemetry\/instrumentation-http/,
} as const;
const preloadedByOpenTelemetry = '@opentelemetry/auto-instrumentations-node/register';

export const programs: readonly Program[] = [
  {
    title: 'Express',
    package: 'express',
    handling: closesAndExits,
    folder: 'express',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'Koa',
    package: 'koa',
    handling: '`await promisify(server.close)()`, then `process.exit()`',
    folder: 'koa',
    args: ['main.mjs'],
    isInArguments: true,
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'Hono',
    package: '@hono/node-server',
    handling: 'as its documentation has it: `server.close(error => process.exit(error ? 1 : 0))`',
    folder: 'hono',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'NestJS',
    package: '@nestjs/core',
    handling: '`enableShutdownHooks()`, which signals the process once more at its end',
    folder: 'nest',
    args: ['dist/main.js'],
    cleanup: ['module destroyed', 'before shutdown by SIGTERM', 'pool closed'],
    end: 'SIGTERM',
  },
  {
    title: 'Fastify',
    package: 'fastify',
    handling: 'close-with-grace with its documented delay of 500 ms, `app.close()`',
    folder: 'fastify',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'Socket.IO',
    package: 'socket.io',
    handling: '`io.close(error => process.exit(error ? 1 : 0))`',
    folder: 'socket-io',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: '0',
    hasWebSockets: true,
  },
  {
    title: 'Next.js, standalone',
    package: 'next',
    handling: 'its own, which closes the server and exits with 143, beside a listener in `instrumentation.js`',
    folder: 'next',
    args: ['.next/standalone/next/server.js'],
    cleanup: ['pool closed'],
    end: '143',
  },
  {
    title: 'Next.js, standalone, handled by hand',
    package: 'next',
    handling: '`NEXT_MANUAL_SIG_HANDLE`, and a listener in `instrumentation.js` that exits with 0',
    folder: 'next',
    args: ['.next/standalone/next/server.js'],
    env: { NEXT_MANUAL_SIG_HANDLE: 'true' },
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'http-terminator',
    package: 'http-terminator',
    handling: '`await httpTerminator.terminate()`, then `process.exit(0)`',
    folder: 'http-terminator',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'terminus',
    package: '@godaddy/terminus',
    handling: '`createTerminus()`, which signals the process once more at its end',
    folder: 'terminus',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: 'SIGTERM',
    ownProbe: { path: '/healthz', body: '"by":"terminus"' },
  },
  {
    title: 'no listener',
    handling: 'nothing',
    folder: 'no-listener',
    args: ['main.mjs'],
    cleanup: [],
    end: '0',
  },
  {
    title: 'exits at once',
    handling: '`process.exit(143)`',
    folder: 'exits-at-once',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: '143',
  },
  {
    title: 'TypeScript, run by Node',
    handling: '`server.close()`, sets `process.exitCode` to 3 and ends by itself',
    folder: 'type-stripping',
    args: ['main.ts'],
    cleanup: ['pool closed'],
    end: '3',
  },
  {
    title: '`node --watch`',
    handling: closesAndExits,
    folder: 'watch',
    args: ['--watch', 'main.mjs'],
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    ...openTelemetry,
    title: 'OpenTelemetry, loaded before',
    preload: { module: preloadedByOpenTelemetry, side: 'before' },
  },
  {
    ...openTelemetry,
    title: 'OpenTelemetry, loaded after',
    preload: { module: preloadedByOpenTelemetry, side: 'after' },
  },
  {
    title: 'CommonJS',
    handling: '`server.close()`, which exits with 0 or throws its error',
    folder: 'commonjs',
    args: ['main.cjs'],
    isInArguments: true,
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'Express, bundled by esbuild',
    package: 'esbuild',
    handling: closesAndExits,
    folder: 'bundled',
    args: ['dist/main.cjs'],
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: 'two servers',
    handling: '`server.close()` on both, then `process.exit()` with 1 for an error',
    folder: 'two-servers',
    args: ['main.mjs'],
    cleanup: ['pool closed'],
    end: '0',
    hasAdminPort: true,
  },
  {
    title: '`node:https`',
    handling: closesAndExits,
    folder: 'https',
    args: ['main.mjs'],
    protocol: 'https',
    cleanup: ['pool closed'],
    end: '0',
  },
  {
    title: '`node:http2` over TLS',
    handling: closesAndExits,
    folder: 'http2',
    args: ['main.mjs'],
    protocol: 'http2',
    cleanup: ['pool closed'],
    end: '0',
  },
];
