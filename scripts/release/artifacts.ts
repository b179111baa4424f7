// Writes all files of a release of lameduck into the folder `release/`: the npm package, its documents, its SBOM and
// the Helm charts. These charts contain the addresses of the published images. No other file changes.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const sbom = 'sbom.cdx.json';

/**
 * writeArtifacts deletes the folder `release/` below `root` and creates it again with all files that a release
 * publishes. It returns the path of this folder.
 */
export function writeArtifacts(root: string): string {
  const folder = join(root, 'release');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const run = (...args: string[]): string => execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
  // Create the SBOM from `package-lock.json`, because the folder `node_modules` may contain packages that this file
  // does not list.
  writeFileSync(join(root, sbom), run('sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'));
  run('pack', '--pack-destination', folder);
  cpSync(join(root, sbom), join(folder, sbom));
  rmSync(join(root, sbom));
  writeCharts(root, join(folder, 'charts'));
  return folder;
}

// Copies the Helm charts into `folder`. In the repository, the charts name images that are built locally. The copies
// name the published images.
function writeCharts(root: string, folder: string): void {
  // In the folder `helm/`, the library chart is a symbolic link to another folder. Copy that folder into `release/`, so
  // that the chart can be packaged there.
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
