// Creates the file to which a container writes its termination message.
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

/** emptyFile creates an empty termination message file, as a starting container finds it. */
export function emptyFile(t: TestContext): string {
  const path = join(folder(t), 'termination-log');
  writeFileSync(path, '');
  return path;
}
