// The version of the package. The build replaces this module with the version as a constant.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** version is the version of the package. */
export const { version } = manifest;
