// The exit code of a process that ends by itself.

/** endWith lets the process end with a code, once nothing holds it any more. */
export function endWith(code: number): void {
  process.exitCode = code;
}
