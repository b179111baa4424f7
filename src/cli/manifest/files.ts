// Reads the manifest files that a command line names.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { readObjects, type Manifest } from './objects.ts';

/** standardInputName is the file name `-`, which means standard input. */
export const standardInputName = '-';

/**
 * readManifests reads the files and resolves with their contents. If a file cannot be read, it resolves with a message
 * about the first such file.
 */
export async function readManifests(
  files: readonly string[],
): Promise<readonly Manifest[] | { readonly problem: string }> {
  if (files.filter((file) => file === standardInputName).length > 1)
    return { problem: 'standard input can be read only once, but - is given twice' };
  const manifests: Manifest[] = [];
  for (const file of files) {
    try {
      const content = file === standardInputName ? await text(process.stdin) : readFileSync(file, 'utf8');
      manifests.push(readObjects(content, file === standardInputName ? 'standard input' : file));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EISDIR') return { problem: `${file} is a folder: name its files, such as ${file}/*.yaml` };
      return { problem: `unable to read ${file}: ${message}` };
    }
  }
  return manifests;
}
