// The probe ports that the lifecycles of this process use. The lifecycle of `lameduck/register` and a lifecycle of the
// program's code may have the same probe port. The lifecycle of the code then gets the port, because the program has
// added its checks to that lifecycle.

/** PortClaim records that a lifecycle uses a probe port. */
export interface PortClaim {
  /**
   * `release()` closes the port for another lifecycle. It resolves when that lifecycle can listen on the port. It is
   * undefined for a lifecycle of the program's code, which keeps its port.
   */
  readonly release: (() => Promise<void>) | undefined;
}

// Change the key when PortClaim changes.
const key = Symbol.for('lameduck.probe-ports/v1');

// Returns the claims of all copies of this package in the process. The copy that Node preloads may be another one than
// the copy that the program imports.
function claims(): Map<number, PortClaim> {
  const shared = globalThis as unknown as Record<symbol, Map<number, PortClaim> | undefined>;
  return (shared[key] ??= new Map<number, PortClaim>());
}

/**
 * claimPort calls `listen` as soon as the lifecycle can listen on the port. It returns false, and does not call
 * `listen`, if the claim can be released and another lifecycle already has the port.
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
