// `npm run release -- VERSION` sets the version in all files, and moves the unreleased entries of the CHANGELOG under
// the new version. It then commits, tags, and writes the files to publish into release/. A push of the tag starts
// .github/workflows/release.yml, which publishes the version.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeArtifacts } from './artifacts.ts';
import { changes, isNewer, nextStep, type Release } from './cut.ts';

const usage = `Usage: npm run release -- VERSION [--repository URL] [--dry-run]
       npm run release -- --artifacts

  VERSION        such as 0.1.0, newer than that of package.json
  --repository   the public address, such as https://github.com/owner/lameduck; a later release keeps this address
  --dry-run      releases a clone of the last commit, shows the changes, and deletes the clone
  --artifacts    only writes release/ from the tree as it is`;

const { values, positionals } = parsed();
const [version] = positionals;
const here = process.cwd();

if (values.help) console.log(usage);
else if (values.artifacts) list(writeArtifacts(here));
else if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) refuse(usage);
else if (values.repository !== undefined && !/^https:\/\/[^/]+\/[^/]+\/[^/]+$/.test(values.repository)) {
  refuse(`--repository must be an address such as https://github.com/owner/lameduck, got ${values.repository}`);
} else {
  const date = new Date().toISOString().slice(0, 10);
  const order: Release = { version, date, repository: values.repository ?? knownRepository() };
  if (values['dry-run']) rehearse(order);
  else release(here, order);
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        repository: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        artifacts: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return refuse(`${(error as Error).message}\n${usage}`);
  }
}

function release(root: string, order: Release): void {
  if (git(root, 'status', '--porcelain') !== '')
    refuse('the Git working tree has uncommitted changes: commit or remove them before the release');
  const current = (JSON.parse(read(root, 'package.json')) as { version: string }).version;
  if (!isNewer(order.version, current)) refuse(`${order.version} is not newer than ${current}`);
  const [, chartVersion = ''] = /^version: (.*)$/m.exec(read(root, 'helm/lameduck/Chart.yaml')) ?? [];
  const examples = readdirSync(join(root, 'examples')).filter((name) => {
    return existsSync(join(root, 'examples', name, 'package.json'));
  });
  // Compute the new texts of all files before writing any file, so that an error changes no file.
  const texts = [...changes(examples, chartVersion)].map(
    ([file, change]) => [file, change(read(root, file), order)] as const,
  );
  for (const [file, text] of texts) writeFileSync(join(root, file), text);
  git(root, 'commit', '--quiet', '--all', '--message', `build: release ${order.version}`);
  git(root, 'tag', '--annotate', `v${order.version}`, '--message', `lameduck ${order.version}`);
  list(writeArtifacts(root));
  console.log(nextStep(order));
}

function rehearse(order: Release): void {
  const folder = mkdtempSync(join(tmpdir(), 'lameduck-release-'));
  try {
    const clone = join(folder, 'clone');
    git(here, 'clone', '--quiet', here, clone);
    symlinkSync(join(here, 'node_modules'), join(clone, 'node_modules'));
    release(clone, order);
    console.log(git(clone, 'show', '--stat', '--format=%s'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function knownRepository(): string | undefined {
  const { repository } = JSON.parse(read(here, 'package.json')) as { repository?: { url: string } };
  return repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');
}

function list(folder: string): void {
  for (const name of readdirSync(folder).sort()) console.log(`release/${name}`);
}

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function refuse(message: string): never {
  console.error(message);
  process.exit(1);
}
