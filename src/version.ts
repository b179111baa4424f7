// The version of the package. The build puts the version itself in the place of this module.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** version is the version of the package. */
export const { version } = manifest;
