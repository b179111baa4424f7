// Reads from package-lock.json which other packages the given packages depend on, directly and indirectly.
import assert from 'node:assert/strict';
import { readPage } from '../../support/markdown.ts';

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readPage('package-lock.json')) as { packages: Readonly<Record<string, Locked>> };

/** lockedFor returns the folders in package-lock.json of the packages `names` and of all their dependencies. */
export function lockedFor(names: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (name: string, from: string): void => {
    const folder = resolve(name, from);
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies, optionalDependencies } = packages[folder] ?? {};
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) add(needed, folder);
  };
  for (const name of names) add(name, '');
  return [...found].sort();
}

// Node looks in the package's own node_modules first, and then in those of its parent folders.
function resolve(name: string, from: string): string {
  const folder = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
  if (packages[folder] !== undefined) return folder;
  assert.notEqual(from, '', `${name} is not in package-lock.json`);
  return resolve(name, from.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, ''));
}
