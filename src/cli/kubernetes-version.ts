// Parses a Kubernetes version that a user gives as a command-line argument.

/** minorVersionOf returns 30 for `1.30`, `v1.30` and `1.30.2`. It returns undefined for any other form. */
export function minorVersionOf(given: string): number | undefined {
  const [, minor] = /^v?1\.(\d+)(?:\.\d+)?$/.exec(given) ?? [];
  return minor === undefined ? undefined : Number(minor);
}
