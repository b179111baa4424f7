// Describes a program that is run with lameduck/register.

/** Paths are what the clients of a program request. */
export interface Paths {
  readonly quick: string;
  readonly slow: string;
  /** A header without which the program rejects both. */
  readonly header?: string;
}

/** Program is one of the folders of programs/, or one way of starting it. */
export interface Program {
  readonly title: string;
  /** The package that the row of the table is about; Node itself unless given. */
  readonly package?: string;
  /** How the program handles SIGTERM, for the table. */
  readonly handling: string;
  readonly folder: string;
  /** Arguments of node, in the folder. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly protocol?: 'http' | 'https' | 'http2';
  /** Another module that is preloaded, before or after lameduck. */
  readonly preload?: { readonly module: string; readonly side: 'before' | 'after' };
  /** Where lameduck/register is named: in NODE_OPTIONS unless given. */
  readonly isInArguments?: boolean;
  /** The lines that its own cleanup prints; each has to be there once. */
  readonly cleanup: readonly string[];
  /** How it ends by itself, once its own cleanup has run: its exit code, or the process signal that it sends to itself. */
  readonly end: string;
  /** A path that the program answers itself, and a part of its answer. */
  readonly ownProbe?: { readonly path: string; readonly body: string };
  /** Two paths of GET requests: one that is answered at once, and one that takes a while. `/` and `/slow` unless given. */
  readonly paths?: Paths;
  /** Whether the program takes long to install and to build. It is in `programs/long`, and `--long` runs it. */
  readonly isLong?: boolean;
  /** A path that answers a POST with an event stream, which takes longer than the delay, and ends with `lastEvent`. */
  readonly stream?: { readonly path: string; readonly lastEvent: string };
  readonly hasAdminPort?: boolean;
  readonly hasWebSockets?: boolean;
  /** Text that the output must contain if the other preloaded module works. */
  readonly prints?: RegExp;
}

/** usual is what most programs have in common. */
export const usual = { args: ['main.mjs'], cleanup: ['pool closed'], end: '0' } as const;

/** Startable is what is needed to start one. */
export type Startable = Omit<Program, 'title' | 'handling' | 'cleanup' | 'end'>;
