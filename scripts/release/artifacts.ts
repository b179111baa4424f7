// Writes the files that a release publishes into release/. These are the packed package with its documents and its
// SBOM, and the charts with the addresses of the images. It changes no other file.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const sbom = 'sbom.cdx.json';

/**
 * writeArtifacts deletes the folder `release/` below `root`, writes all files to publish into a new one, and returns
 * its path.
 */
export function writeArtifacts(root: string): string {
  const folder = join(root, 'release');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const run = (...args: string[]): string => execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
  // Create the SBOM from the lock file, because node_modules may contain further packages.
  writeFileSync(join(root, sbom), run('sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'));
  run('pack', '--pack-destination', folder);
  cpSync(join(root, sbom), join(folder, sbom));
  rmSync(join(root, sbom));
  writeCharts(root, join(folder, 'charts'));
  return folder;
}

// In the repository, the charts name images that are built locally. The published charts name the published images.
function writeCharts(root: string, folder: string): void {
  // The library chart is a symbolic link in the repository. In release/, it must be a folder that can be packaged.
  for (const name of readdirSync(join(root, 'helm'))) {
    cpSync(realpathSync(join(root, 'helm', name)), join(folder, name), { recursive: true });
  }
  const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    repository?: { url: string };
  };
  const owner = /github\.com\/([^/]+)\//.exec(repository?.url ?? '')?.[1]?.toLowerCase();
  if (owner === undefined) return;
  const images = `ghcr.io/${owner}/lameduck`;
  replaceIn(join(folder, 'lameduck', 'values.yaml'), [
    [/^ {2}repository: localhost\/.*$/m, `  repository: ${images}-reference-service`],
    [/^ {2}tag: dev$/m, `  tag: '${version}'`],
    [/^ {2}image: localhost\/.*$/m, `  image: ${images}-injector:${version}`],
  ]);
  replaceIn(join(folder, 'lameduck-injector', 'values.yaml'), [
    [/^image: localhost\/.*$/m, `image: ${images}-injector:${version}`],
  ]);
}

function replaceIn(path: string, replacements: readonly (readonly [RegExp, string])[]): void {
  let text = readFileSync(path, 'utf8');
  for (const [pattern, replacement] of replacements) {
    if (!pattern.test(text)) throw new Error(`${path} has no line ${String(pattern)}`);
    text = text.replace(pattern, replacement);
  }
  writeFileSync(path, text);
}
