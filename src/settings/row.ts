// One row of a table of settings, and the types that are derived from such a table.
import type { Kind } from './kinds.ts';

/** Row describes one setting. Its variable is `LAMEDUCK_` followed by the option in upper snake case. */
export interface Row<Value, Given = Value> {
  readonly kind: Kind<Value>;
  /**
   * `default()` returns the default value of the setting. Its argument tells whether the process runs in a cluster. If
   * it returns undefined, the setting is unset by default.
   */
  readonly default: (inCluster: boolean) => Value;
  /** namedAfter is the apiserver's flag or the pod's field after which the setting is named. */
  readonly namedAfter?: string;
  /**
   * `given` exists only for its type, and never has a value. The type tells TypeScript which values code may pass for
   * the setting.
   */
  readonly given?: Given;
}

/** `row()` returns its argument. TypeScript derives the types of a setting from the types of this call. */
export function row<Value, Given = Value>(definition: Row<Value, Given>): Row<Value, Given> {
  return definition;
}

/**
 * ValuesOf is the type of an object with the validated values of all settings in a settings table. Settings that the
 * program does not set have their default values.
 */
export type ValuesOf<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends Row<infer Value, infer _> ? Value : never;
};

/**
 * GivenOf is the type of the options object that code can pass. It is derived from the rows of a settings table, as a
 * mapped type, so that editors show the comment of each row.
 */
export type GivenOf<Rows> = {
  readonly [Name in keyof Rows]?: (Rows[Name] extends Row<infer _, infer Given> ? Given : never) | undefined;
};
