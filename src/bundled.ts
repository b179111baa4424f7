// Loads a CommonJS package, even if lameduck itself is bundled into an ECMAScript module.

// The number of packages that are being loaded. Module-level, because all of them share the global `require`.
let loading = 0;

/**
 * fromBundle calls `load`, which imports a CommonJS package. Until the package is loaded, it sets a global `require`.
 * In a bundle of ECMAScript modules, esbuild replaces the package's `require`. If there is no global `require`, the
 * replacement throws for built-in modules.
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
