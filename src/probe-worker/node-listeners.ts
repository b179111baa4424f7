// Restores Node's original addEventListener() for a short time if zone.js has replaced it. A MessagePort of Node passes
// values to its listeners. The replacement of zone.js expects events, and throws an uncaught error for each value.
interface Zones {
  readonly Zone?: { readonly __symbol__?: (name: string) => string };
}

/**
 * withNodeListeners calls `create`. During this call, EventTarget has Node's original addEventListener() instead of the
 * replacement of zone.js.
 */
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
