// Lists the exports and the built files of the package. To add an export, add a row to `entries`, and add its
// conditions to `exports` in package.json. test/package/exports.test.ts compares `entries` with `exports`.

/** An Entry is one file that programs can import from the package, such as `lameduck/fastify`. */
export interface Entry {
  /** The name of the files that the build writes into `dist` for this export, without the extensions. */
  readonly name: string;
  /** The name under which the module also exports its default export, if it has a default export. */
  readonly default?: string;
}

/** `entries` are the exports that a program imports. The source of each is `src/NAME.ts`. */
export const entries: readonly Entry[] = [
  { name: 'index' },
  { name: 'fastify', default: 'fastifyLameduck' },
  { name: 'grpc' },
  { name: 'leader-election' },
  { name: 'testing' },
];

/**
 * `preload` is the module that `lameduck/register` and the main file share. It has its own file, because
 * `lameduck/register` loads it in every process, and loading the main file would take milliseconds.
 */
export const preload = 'process/emit-override';

/**
 * `lameduck/register` needs the modules in besidePreload before the first response, so the build puts them into the
 * same file as the module `preload`.
 */
export const besidePreload: readonly string[] = ['patch-emit'];

/**
 * `main` is the file that `require('lameduck')` loads. It contains the lifecycle, and each of its modules is evaluated
 * only when it is first used. Several files would take longer to load.
 */
export const main = 'index';

/**
 * `pieces` divides the main file, so that `lameduck/register` loads it without a long turn of the event loop. In each
 * turn, `lameduck/register` evaluates one of these modules, with its imports. The first module is small, because the
 * first turn also loads the main file. src/register.cts repeats this list.
 */
export const pieces: readonly string[] = [
  'clock',
  'settings/complete',
  'health/health',
  'http/in-flight/requests',
  'http/traffic',
  'http/drain/drain',
  'observers/metrics/lifecycle-metrics',
  'probe-worker/probe-port',
  'process/this-process',
  'parts',
  'manage',
];

/**
 * `preloaded` lists the files that Node loads before the program, by the options `--require` and `--import`. The source
 * of each file is `src/NAME.cts`.
 */
export const preloaded: readonly string[] = ['register', 'register/cluster-worker'];

/** `internal` lists the built files that the package itself loads and that programs cannot import by name. */
export const internal: readonly string[] = ['register/deferral', 'register/program-lifecycle'];

/** `command` is the path in `src`, without the extension, of the source of the command `lameduck`. */
export const command = 'cli/main';

/**
 * clientsThread is the worker thread with the clients of `lameduck rehearse`. The command starts it by its file name.
 */
export const clientsThread = { module: 'cli/rehearsal/clients/thread', file: 'rehearsal-clients' } as const;
