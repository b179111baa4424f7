// The oldest versions of packages that the program brings. They are no peer dependencies: npm refuses to install lameduck
// beside a peer of another version, also in a program that never uses that peer.
import { LameduckError } from './errors.ts';

/** checkPackage throws LAMEDUCK_ERR_PACKAGE_OUTDATED if a package is older than `oldest`, a major and a minor version. */
export function checkPackage(user: string, name: string, version: string, oldest: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  const message = `${user} needs ${name} ${oldest} or newer, got ${version}`;
  throw new LameduckError('LAMEDUCK_ERR_PACKAGE_OUTDATED', message);
}
