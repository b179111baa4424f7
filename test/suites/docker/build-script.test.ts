// Tests which arguments docker/build.sh passes to the builder, on machines with npm and without it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../../support/markdown.ts';

const printsItsSecret = `#!/usr/bin/env bash
for argument in "$@"; do case $argument in id=npmrc,*) cat "\${argument#*src=}" ;; esac; done
`;

describe('H-167 docker/build.sh passes the npm registry to the build as a secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'builder-'));

  function program(name: string, text: string): void {
    writeFileSync(join(folder, name), text, { mode: 0o755 });
  }

  const build = (): string =>
    execFileSync('bash', [join(root, 'docker', 'build.sh'), 'a:1', join(root, 'docker', 'Dockerfile'), root], {
      env: { PATH: folder },
      encoding: 'utf8',
    });

  before(() => {
    for (const name of ['bash', 'env', 'cat', 'chmod', 'date', 'git', 'mktemp', 'rm']) {
      const path = execFileSync('bash', ['-c', `type -P ${name}`], { encoding: 'utf8' }).trim();
      symlinkSync(path, join(folder, name));
    }
    program('buildah', printsItsSecret);
  });

  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('docker/build.sh passes no registry to the build if npm is not installed', () => {
    assert.equal(build(), '');
  });

  it("docker/build.sh passes npm's registry to the build", () => {
    program('npm', '#!/usr/bin/env bash\n[ "$3" = registry ] && echo https://registry.example/ || echo null\n');
    assert.equal(build(), 'registry=https://registry.example/\n');
  });
});
