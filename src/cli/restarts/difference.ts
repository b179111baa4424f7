// Finds the fields in which two values differ. No side effects.
import { isDeepStrictEqual } from 'node:util';
import { isObject, type Path } from '../manifest/fields.ts';

export interface Difference {
  /**
   * `path` is the path of the changed field in the new value. If the new value lacks the field, `path` is the path of
   * the field in the old value.
   */
  readonly path: Path;
  readonly isGone: boolean;
  readonly before: unknown;
  readonly after: unknown;
}

// To compare two versions of a list in a manifest, the elements of the list are paired by one field. This field is the
// first one in `identities` whose value identifies each element.
const identities = ['name', 'mountPath'];

/**
 * differencesOf returns the fields in which two values differ. If a nested field differs, it returns only the nested
 * field and not the object that contains this field.
 */
export function differencesOf(before: unknown, after: unknown, path: Path = []): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    return names.flatMap((name) => differencesOf(before[name], after[name], [...path, name]));
  }
  if (Array.isArray(before) && Array.isArray(after)) return differencesOfLists(before, after, path);
  return [{ path, isGone: after === undefined, before, after }];
}

function differencesOfLists(before: readonly unknown[], after: readonly unknown[], path: Path): Difference[] {
  const identity = identities.find((name) => isUnique(before, name) && isUnique(after, name));
  if (identity === undefined) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => differencesOf(before[index], after[index], [...path, index])).flat();
  }
  const key = (one: unknown): unknown => (isObject(one) ? one[identity] : undefined);
  const changed = after.flatMap((one, index) => {
    const old = before.find((other) => key(other) === key(one));
    return differencesOf(old, one, [...path, index]);
  });
  const gone = before.flatMap((one, index): Difference[] =>
    after.some((other) => key(other) === key(one))
      ? []
      : [{ path: [...path, index], isGone: true, before: one, after: undefined }],
  );
  const found = [...changed, ...gone];
  // If no element of a list has changed, the two versions of the list differ only in the order of the elements. Report
  // the whole list as changed.
  return found.length > 0 ? found : [{ path, isGone: false, before: before.map(key), after: after.map(key) }];
}

function isUnique(list: readonly unknown[], name: string): boolean {
  const keys = list.map((one) => (isObject(one) ? one[name] : undefined));
  return keys.every((key) => typeof key === 'string') && new Set(keys).size === keys.length;
}
