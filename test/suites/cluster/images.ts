// Builds the images that the suites deploy from this repository, and imports them into the cluster.
//
//   CLUSTER_IMAGE_IMPORT  a command that imports an image archive, whose path is appended (kind load image-archive)
//   IMPORTED_IMAGES       the scripts whose images the cluster already has, separated by commas; set by run.ts
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../support/command-line.ts';

const imageImport = process.env['CLUSTER_IMAGE_IMPORT'];
const imported = process.env['IMPORTED_IMAGES']?.split(',') ?? [];

/** The image of the reference service. The image contains the npm package lameduck. */
export const referenceImage = 'localhost/lameduck-reference-service:dev';

/** The image with the test programs that do not use lameduck. */
export const strangersImage = 'localhost/lameduck-strangers:dev';

/**
 * Builds one image per script, and imports each image into the cluster. A script writes an image archive to the path in
 * its first argument. The caller may pass further arguments for a script.
 */
export async function importImages(
  ...scripts: (string | readonly [script: string, ...args: string[]])[]
): Promise<void> {
  assert.ok(imageImport, 'CLUSTER_IMAGE_IMPORT must name the command that imports an image archive into the cluster');
  const folder = await mkdtemp(join(tmpdir(), 'images-'));
  try {
    for (const [index, one] of scripts.entries()) {
      const [script, ...args] = typeof one === 'string' ? [one] : one;
      if (args.length === 0 && imported.includes(script)) continue;
      const archive = join(folder, `${String(index)}.tar`);
      await run('bash', fileURLToPath(new URL(script, import.meta.url)), archive, ...args);
      await run(imageImport, archive);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
