// Computes the new texts of the repository's files for a release of lameduck: version numbers, addresses of the
// repository, and the CHANGELOG. The caller reads and writes the files.

/** The interface Release describes the arguments of the command `npm run release`. */
export interface Release {
  readonly version: string;
  /** The public address of the repository, without `.git` and without a slash at its end. */
  readonly repository?: string | undefined;
  /** The day on which the version is released, for example `2026-11-23`. */
  readonly date: string;
}

type Change = (text: string, release: Release) => string;

interface Manifest {
  version?: string;
  repository?: { type: string; url: string };
  homepage?: string;
  bugs?: string;
  packages?: Record<string, Manifest>;
  dependencies?: Record<string, string>;
}

/**
 * `changes()` returns, for each file that a release changes, a function from the old text of the file to the new text.
 * `examples` lists the names of the folders in examples/.
 */
export function changes(examples: readonly string[], chartVersion: string): ReadonlyMap<string, Change> {
  const namesChart: Change = (text, { version }) => text.replaceAll(chartVersion, version);
  const chartTests = [
    'test/suites/chart/defaults.yaml',
    'test/suites/chart/defaults.test.ts',
    'test/suites/chart/library.test.ts',
  ];
  const namesTheChart = [...chartTests, 'helm/lameduck/charts/lameduck-library/README.md'];
  return new Map<string, Change>([
    ['package.json', manifest],
    ['package-lock.json', lock],
    ...examples.map((name) => [`examples/${name}/package.json`, example] as const),
    ['helm/lameduck/Chart.yaml', chart],
    ['helm/lameduck/charts/lameduck-library/Chart.yaml', chart],
    ['helm/lameduck-injector/Chart.yaml', chart],
    ...namesTheChart.map((file) => [file, namesChart] as const),
    ['CHANGELOG.md', changelog],
  ] satisfies (readonly [string, Change])[]);
}

/** isNewer returns whether a version is newer than another. */
export function isNewer(version: string, than: string): boolean {
  const [[a, b, c], [x, y, z]] = [numbersOf(version), numbersOf(than)];
  return a > x || (a === x && (b > y || (b === y && c > z)));
}

/** nextStep returns what the maintainer must do after `npm run release` has tagged a version. */
export function nextStep({ version, repository }: Release): string {
  if (repository !== undefined) return `publish version ${version} with: git push --atomic origin HEAD v${version}`;
  // Publishing needs the address of the repository in package.json. npm compares this address with the repository of
  // the GitHub workflow. The workflow pushes the charts to the container registry of the repository's owner.
  return `GitHub cannot publish version ${version}: delete the release commit and the tag v${version}, then run \`npm run release\` again with --repository`;
}

function numbersOf(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [major, minor, patch];
}

const manifest: Change = (text, { version, repository }) => {
  const content = JSON.parse(text) as Manifest;
  content.version = version;
  if (repository !== undefined) {
    content.repository = { type: 'git', url: `git+${repository}.git` };
    content.homepage = `${repository}#readme`;
    content.bugs = `${repository}/issues`;
  }
  return json(content);
};

const lock: Change = (text, { version }) => {
  const content = JSON.parse(text) as Manifest;
  content.version = version;
  const own = content.packages?.[''];
  if (own !== undefined) own.version = version;
  return json(content);
};

const example: Change = (text, { version }) => {
  const content = JSON.parse(text) as Manifest;
  if (content.dependencies !== undefined) content.dependencies['lameduck'] = `^${version}`;
  return json(content);
};

// The charts have the version of the package, including the library chart.
const chart: Change = (text, { version, repository }) => {
  const versioned = text
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^appVersion: .*$/m, `appVersion: '${version}'`)
    .replace(/(- name: lameduck-library\n {4}version: ).*/, `$1${version}`);
  if (repository === undefined) return versioned;
  const withoutAddress = versioned.replace(/^home: .*\n/m, '').replace(/^sources: .*\n/m, '');
  return withoutAddress.replace(/^type: .*$/m, `$&\nhome: ${repository}\nsources: [${repository}]`);
};

const changelog: Change = (text, { version, repository, date }) => {
  const [, released = ''] = /^## \[Unreleased\]\n([^]*?)(?=^## \[|^\[Unreleased\]|(?![^]))/m.exec(text) ?? [];
  if (!released.includes('\n- ')) throw new Error('CHANGELOG.md has nothing under [Unreleased]');
  const cut = text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`);
  if (repository === undefined) return cut;
  const unreleased = `[Unreleased]: ${repository}/compare/v${version}...HEAD`;
  const links = cut.replace(/^\[Unreleased\]: .*\n/m, '').trimEnd();
  const between = /^\[\d+\.\d+\.\d+\]: .*$/.test(links.split('\n').at(-1) ?? '') ? '\n' : '\n\n';
  return `${links}${between}[${version}]: ${repository}/releases/tag/v${version}\n${unreleased}\n`;
};

function json(content: unknown): string {
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
