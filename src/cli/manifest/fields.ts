// Reads fields of a manifest that no schema has validated. No side effects.

/** Fields is an object in a manifest, with unchecked values. */
export type Fields = Readonly<Record<string, unknown>>;

/** Path lists the keys and indexes that lead from an object of a manifest to one of its fields. */
export type Path = readonly (string | number)[];

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `object()` returns a value that should be an object. If the value is anything else, it returns an empty object. */
export function object(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** `objects()` returns the objects in a value that should be a list of objects. It leaves out every other element. */
export function objects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function number(value: unknown, fallback: number): number {
  return numberOrUndefined(value) ?? fallback;
}

export function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

/** fieldAt returns the field at a path within a value, or undefined if there is none. */
export function fieldAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? (at as Record<string | number, unknown>)[step] : undefined),
    value,
  );
}

/** pathText formats a path as `kubectl explain` and JSONPath do: `spec.containers[0].name`. */
export function pathText(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${String(step)}]`;
      if (!/^[A-Za-z][\w-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}

/** valueText formats a value of a manifest as JSON. It truncates a text of more than `longest` characters. */
export function valueText(value: unknown, longest: number): string {
  const written = value === undefined ? 'not set' : JSON.stringify(value);
  return written.length > longest ? `${written.slice(0, longest - 1)}…` : written;
}

const variable = /\$(?:[A-Za-z_]\w*|\{[A-Za-z_][^{}]*\}|\([A-Za-z_][^()]*\))/;

/**
 * variableIn returns a variable in a value, such as `${REPLICAS}` or `$(REPLICAS)`, that no program has substituted. It
 * returns undefined if there is none.
 */
export function variableIn(value: unknown): string | undefined {
  return typeof value === 'string' ? variable.exec(value)?.[0] : undefined;
}
