// The probe ports that the lifecycles of this process use. The lifecycle of `lameduck/register` and a lifecycle of the
// program's code may have the same probe port. The lifecycle of the code then gets the port, because the program has
// added its checks to that lifecycle.

/** PortClaim records that a lifecycle uses a probe port. */
export interface PortClaim {
  /**
   * `release()` closes the probe port so that another lifecycle can listen on it. Its promise resolves when the other
   * lifecycle can listen. A lifecycle that the program's code has created keeps its port, so its claim has no
   * `release`.
   */
  readonly release: (() => Promise<void>) | undefined;
}

// The key of the global map of all claims. If the type PortClaim changes, change this key too, so that other versions
// of this package do not use the same map.
const key = Symbol.for('lameduck.probe-ports/v1');

// Returns the claims of all copies of this package in the process. The copy that Node preloads may be another one than
// the copy that the program imports.
function claims(): Map<number, PortClaim> {
  const shared = globalThis as unknown as Record<symbol, Map<number, PortClaim> | undefined>;
  return (shared[key] ??= new Map<number, PortClaim>());
}

/**
 * claimPort calls `listen` as soon as the lifecycle can listen on the port, and returns true. A claim with `release`
 * yields to any other lifecycle: if the port is already claimed, claimPort returns false and does not call `listen`.
 */
export function claimPort(port: number, claim: PortClaim, listen: () => void): boolean {
  const earlier = claims().get(port);
  if (earlier !== undefined && claim.release !== undefined) return false;
  claims().set(port, claim);
  if (earlier?.release === undefined) listen();
  else void earlier.release().then(listen);
  return true;
}

/** dropClaim records that a lifecycle no longer uses its probe port. Another lifecycle can then claim the port. */
export function dropClaim(port: number, claim: PortClaim): void {
  if (claims().get(port) === claim) claims().delete(port);
}
