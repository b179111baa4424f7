// Node's own addEventListener(), where zone.js has replaced it. A MessagePort of Node passes values to its listeners. The
// replacement of zone.js expects events, and throws an uncaught error for each value.
interface Zones {
  readonly Zone?: { readonly __symbol__?: (name: string) => string };
}

/** withNodeListeners calls `create` while EventTarget has Node's own addEventListener(). */
export function withNodeListeners<Created>(create: () => Created): Created {
  const prototype = EventTarget.prototype as unknown as Record<string, unknown>;
  const name = (globalThis as Zones).Zone?.__symbol__?.('addEventListener');
  const original = name === undefined ? undefined : prototype[name];
  const replaced = prototype['addEventListener'];
  if (typeof original !== 'function' || original === replaced) return create();
  prototype['addEventListener'] = original;
  try {
    return create();
  } finally {
    prototype['addEventListener'] = replaced;
  }
}
