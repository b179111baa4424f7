// Reads the manifests that a command names.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { readObjects, type Manifest } from './objects.ts';

/** standardInputName is the file name `-`, and the one that findings show for it. */
export const standardInputName = '-';

/** readManifests returns what is in the files, or why one of them cannot be read. */
export async function readManifests(
  files: readonly string[],
): Promise<readonly Manifest[] | { readonly problem: string }> {
  const manifests: Manifest[] = [];
  for (const file of files) {
    try {
      const content = file === standardInputName ? await text(process.stdin) : readFileSync(file, 'utf8');
      manifests.push(readObjects(content, file === standardInputName ? 'standard input' : file));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EISDIR') return { problem: `${file} is a folder: name its files, such as ${file}/*.yaml` };
      return { problem: `${file} cannot be read: ${message}` };
    }
  }
  return manifests;
}
