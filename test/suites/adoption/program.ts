// The TypeScript type of a program that the tests run with lameduck/register.

/** Paths are the paths that the clients of a program request. */
export interface Paths {
  readonly quick: string;
  readonly slow: string;
  /**
   * A request header that the program requires. Without it, the program rejects requests to the paths `quick` and
   * `slow`.
   */
  readonly header?: string;
}

/**
 * Program describes one way to start a test program. The test programs are in the subfolders of programs/. Most of them
 * can be started in only one way.
 */
export interface Program {
  readonly title: string;
  /** The npm package in the row of this program in the table of docs/register.md. The default is Node itself. */
  readonly package?: string;
  /** How the program handles SIGTERM, as text for the table of docs/register.md. */
  readonly handling: string;
  readonly folder: string;
  /** Arguments of node, relative to the program's folder. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly protocol?: 'http' | 'https' | 'http2';
  /** A module that Node preloads in addition to lameduck/register, before it or after it. */
  readonly preload?: { readonly module: string; readonly side: 'before' | 'after' };
  /** If true, an argument of node loads lameduck/register. By default, NODE_OPTIONS loads it. */
  readonly isInArguments?: boolean;
  /** The lines that the cleanup code of the tested program must print, each line exactly once. */
  readonly cleanup: readonly string[];
  /**
   * The expected end of the program after its own cleanup: an exit code, or the process signal that the program sends
   * to itself.
   */
  readonly end: string;
  /**
   * The path of a health endpoint that the program itself has, and a text that the response of this endpoint must
   * contain.
   */
  readonly ownProbe?: { readonly path: string; readonly body: string };
  /**
   * Two paths of GET requests: one with an immediate response, and one with a slow response. The defaults are `/` and
   * `/slow`.
   */
  readonly paths?: Paths;
  /**
   * True if the installation and the build of the program take minutes. Such a program is in `programs/long`, and runs
   * only with the option `--long`.
   */
  readonly isLong?: boolean;
  /**
   * A path that answers a POST with an event stream. The stream takes longer than the shutdown delay, and ends with
   * `lastEvent`.
   */
  readonly stream?: { readonly path: string; readonly lastEvent: string };
  readonly hasAdminPort?: boolean;
  readonly hasWebSockets?: boolean;
  /** The text that shows that the module in `preload` works. The program prints this text only if the module works. */
  readonly prints?: RegExp;
}

/** `usual` has the values of the Program fields that are the same for most programs. */
export const usual = { args: ['main.mjs'], cleanup: ['pool closed'], end: '0' } as const;

/** Startable has the fields that are needed to start a program. */
export type Startable = Omit<Program, 'title' | 'handling' | 'cleanup' | 'end'>;
