// A row of a table of settings, and the types that follow from such a table.
import type { Kind } from './kinds.ts';

/** Row is one setting; its variable is `LAMEDUCK_` and the option in upper snake case. */
export interface Row<Value, Given = Value> {
  readonly kind: Kind<Value>;
  /** The default, given whether the process runs in a cluster; undefined leaves things as they are. */
  readonly default: (inCluster: boolean) => Value;
  /** The apiserver's flag or the pod's field that the setting is named after. */
  readonly namedAfter?: string;
  /** Only for the type: what code may pass. */
  readonly given?: Given;
}

/** row is a row of a table of settings. */
export function row<Value, Given = Value>(definition: Row<Value, Given>): Row<Value, Given> {
  return definition;
}

/** ValuesOf is the settings of a table, complete and validated. */
export type ValuesOf<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends Row<infer Value, infer _> ? Value : never;
};

/** GivenOf is what code may pass for a table. In this very form the options keep the comments of their rows. */
export type GivenOf<Rows> = {
  readonly [Name in keyof Rows]?: (Rows[Name] extends Row<infer _, infer Given> ? Given : never) | undefined;
};
