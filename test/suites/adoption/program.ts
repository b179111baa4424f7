// The type of a program that is run with lameduck/register.

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

/** Program is one way to start a program that is in a folder of programs/. Most of these programs have only one way. */
export interface Program {
  readonly title: string;
  /** The package that docs/register.md names in the table row of this program. By default, this is Node itself. */
  readonly package?: string;
  /** How the program handles SIGTERM, as text for the table of docs/register.md. */
  readonly handling: string;
  readonly folder: string;
  /** Arguments of node, relative to the program's folder. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly protocol?: 'http' | 'https' | 'http2';
  /** Another module that Node preloads before or after lameduck/register. */
  readonly preload?: { readonly module: string; readonly side: 'before' | 'after' };
  /** Whether lameduck/register is an argument of node. By default it is in NODE_OPTIONS. */
  readonly isInArguments?: boolean;
  /** The lines that the program's own cleanup code prints. Each must be printed exactly once. */
  readonly cleanup: readonly string[];
  /** How the program ends after its own cleanup: its exit code, or the process signal that it sends to itself. */
  readonly end: string;
  /** A health path that the program itself serves, and a text that its response must contain. */
  readonly ownProbe?: { readonly path: string; readonly body: string };
  /**
   * Two paths of GET requests: one with an immediate response, and one with a slow response. The defaults are `/` and
   * `/slow`.
   */
  readonly paths?: Paths;
  /** Whether the program takes long to install and to build. It is in `programs/long`, and `--long` runs it. */
  readonly isLong?: boolean;
  /**
   * A path that answers a POST with an event stream. The stream takes longer than the shutdown delay, and ends with
   * `lastEvent`.
   */
  readonly stream?: { readonly path: string; readonly lastEvent: string };
  readonly hasAdminPort?: boolean;
  readonly hasWebSockets?: boolean;
  /** Text that the program prints if the module that is preloaded together with lameduck/register works. */
  readonly prints?: RegExp;
}

/** `usual` has the fields that are the same for most programs. */
export const usual = { args: ['main.mjs'], cleanup: ['pool closed'], end: '0' } as const;

/** Startable has the fields that are needed to start a program. */
export type Startable = Omit<Program, 'title' | 'handling' | 'cleanup' | 'end'>;
