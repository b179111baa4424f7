// Creates the file in which the kubelet expects a container's termination message.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'termination-'));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

/** emptyFile returns an empty file, as a container finds it. */
export function emptyFile(t: TestContext): string {
  const path = join(folder(t), 'termination-log');
  writeFileSync(path, '');
  return path;
}
