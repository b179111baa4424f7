// Loads a package of CommonJS, also in a bundle of ECMAScript modules.

let loading = 0;

/**
 * fromBundle calls `load`, which imports a CommonJS package. In a bundle of ECMAScript modules, esbuild replaces the package's
 * `require` by a function. That function throws for a built-in module, unless there is a global `require`. So fromBundle sets
 * a global `require` until the package is loaded.
 */
export async function fromBundle<T>(load: () => Promise<T>): Promise<T> {
  const isCommonJs = typeof module !== 'undefined';
  if (isCommonJs || ('require' in globalThis && loading === 0)) return load();
  if (loading++ === 0) {
    const value = process.getBuiltinModule.bind(process);
    Object.defineProperty(globalThis, 'require', { value, configurable: true });
  }
  try {
    return await load();
  } finally {
    if (--loading === 0) Reflect.deleteProperty(globalThis, 'require');
  }
}
