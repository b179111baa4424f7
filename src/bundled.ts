// Loads a CommonJS package, even if lameduck itself is bundled into an ECMAScript module.

// The number of calls of fromBundle that are in progress. All these calls use the same global `require`. The last call
// that ends deletes this global variable.
let loading = 0;

/**
 * fromBundle calls `load`, which imports a CommonJS package. If lameduck is bundled into an ECMAScript module, esbuild
 * replaces `require` in the package. The replacement throws for built-in modules unless there is a global `require`.
 * So fromBundle sets a global `require` until the package is loaded.
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
