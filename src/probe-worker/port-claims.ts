// The probe ports that the lifecycles of this process use. The lifecycle of `lameduck/register` and a lifecycle of the
// program's code may have the same probe port. In this case, the lifecycle of the program's code gets the port, because
// the program has added its health checks to that lifecycle.

/** PortClaim records that a lifecycle of this process uses a probe port. */
export interface PortClaim {
  /**
   * `release()` closes the probe port of the lifecycle. Its promise resolves when another lifecycle can listen on the
   * port. `release` is undefined for a lifecycle that the program's code has created, because such a lifecycle never
   * gives up its probe port.
   */
  readonly release: (() => Promise<void>) | undefined;
}

// The key of the map of claimed probe ports, which all copies of this package in the process share. If the type
// PortClaim changes, change this key too, so that other versions of this package use a different map.
const key = Symbol.for('lameduck.probe-ports/v1');

// Returns the map of the claimed probe ports of this process. All copies of this package in the process share the map:
// the copy that Node preloads may differ from the copy that the program imports.
function claims(): Map<number, PortClaim> {
  const shared = globalThis as unknown as Record<symbol, Map<number, PortClaim> | undefined>;
  return (shared[key] ??= new Map<number, PortClaim>());
}

/**
 * claimPort tries to reserve a probe port for a new lifecycle. If the port is already reserved and `claim.release` is
 * defined, claimPort only returns false. Otherwise, claimPort reserves the port, returns true, and calls `listen` as
 * soon as the new lifecycle can listen on the port.
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
