// The files of the package. To add an export, add a row here, and its conditions to `exports` in package.json, with which
// test/package/exports.test.ts compares this list.

/** Entry is one export of the package. */
export interface Entry {
  /** The name of its files in `dist`. */
  readonly name: string;
  /** The named export that is the default export, too. */
  readonly default?: string;
}

/** entries are the exports that a program imports. The source of each is `src/NAME.ts`. */
export const entries: readonly Entry[] = [
  { name: 'index' },
  { name: 'fastify', default: 'fastifyLameduck' },
  { name: 'grpc' },
  { name: 'leader-election' },
  { name: 'testing' },
];

/**
 * preload is what `lameduck/register` and the main file share. It is a file of its own, because `lameduck/register` runs in
 * every process, and the main file costs milliseconds.
 */
export const preload = 'process/emit-override';

/**
 * pieces are the parts of the main file that are files of their own. Each contains what it needs and no earlier file contains.
 * `lameduck/register` loads one of them in each turn of the event loop, so that no turn is long. src/register.cts has this list.
 */
export const pieces: readonly string[] = [
  ...[
    'settings/complete',
    'health/health',
    'http/in-flight/requests',
    'http/traffic',
    'http/drain/drain',
    'observers/metrics/metrics',
  ],
  ...['probe-worker/probe-port', 'process/this-process', 'parts', 'manage'],
];

/** internal are files of the package that no program imports by name. */
export const internal: readonly string[] = ['register/deferral', 'register/guest'];

/** command is the program `lameduck`. */
export const command = 'cli/main';

/** clientsThread is the thread of the clients of `lameduck rehearse`, which it starts by the name of its file. */
export const clientsThread = { module: 'cli/rehearsal/clients/thread', file: 'rehearsal-clients' } as const;
