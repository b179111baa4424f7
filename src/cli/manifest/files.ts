// Reads the manifest files that a command line names.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { readObjects, type Manifest } from './objects.ts';

/** standardInputName is the file name `-`, which means standard input. */
export const standardInputName = '-';

/** FilesRead has the contents of the files that could be read, and one problem for each other file. */
export interface FilesRead {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly string[];
}

/** readManifests reads the files. A file that cannot be read does not prevent reading the other files. */
export async function readManifests(files: readonly string[]): Promise<FilesRead> {
  if (files.filter((file) => file === standardInputName).length > 1)
    return { manifests: [], problems: ['standard input can be read only once, but - is given twice'] };
  const manifests: Manifest[] = [];
  const problems: string[] = [];
  for (const file of files) {
    try {
      const content = file === standardInputName ? await text(process.stdin) : readFileSync(file, 'utf8');
      manifests.push(readObjects(content, file === standardInputName ? 'standard input' : file));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      problems.push(
        code === 'EISDIR'
          ? `${file} is a folder: name its files, such as ${file}/*.yaml`
          : `unable to read ${file}: ${message}`,
      );
    }
  }
  return { manifests, problems };
}
