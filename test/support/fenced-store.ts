// A store that rejects writes with an outdated fencing token, as the database of a program should.

/** FencedStore accepts a write unless its token is smaller than the last accepted token. */
export class FencedStore {
  #fence = 0n;

  write(token: string): boolean {
    const isAccepted = BigInt(token) >= this.#fence;
    if (isAccepted) this.#fence = BigInt(token);
    return isAccepted;
  }
}
