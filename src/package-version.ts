// Checks the versions of packages that the program installs, such as fastify. These packages are not peer dependencies.
// With a peer dependency, npm would refuse to install lameduck next to an older version, even if the program never uses
// lameduck with that package.
import { LameduckError } from './errors.ts';

/** checkPackage throws LAMEDUCK_ERR_PACKAGE_OUTDATED if a package is older than `oldest`, for example `5.8`. */
export function checkPackage(user: string, name: string, version: string, oldest: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  const message = `${user} needs ${name} ${oldest} or newer, got ${version}`;
  throw new LameduckError('LAMEDUCK_ERR_PACKAGE_OUTDATED', message);
}
