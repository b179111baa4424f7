// Reads the files of an image as a container would see them, and the compressed size of the image.
import assert from 'node:assert/strict';
import { ask, pipe, uniqueName } from './runtime.ts';

/**
 * File is one file of an image: its mode in the form of `ls`, its numeric owner, and its path without a leading slash.
 */
export interface File {
  readonly mode: string;
  readonly owner: string;
  readonly path: string;
}

/** filesOf lists every file and folder of an image. */
export async function filesOf(image: string): Promise<readonly File[]> {
  const container = uniqueName();
  // A container needs a command if its image has no default command, such as an image without a program. This container
  // gets the command `none`, and is never started.
  await ask('create', '--name', container, '--network', 'none', image, 'none');
  try {
    const list = await pipe(['export', container], 'tar --list --verbose --numeric-owner --file=-');
    return list.trimEnd().split('\n').map(parse);
  } finally {
    await ask('rm', '--force', container);
  }
}

function parse(line: string): File {
  const pattern = /^(\S{10})\S* (\S+) +\S+ \S+ \S+ (?:\.\/)?(.*?)\/?(?: -> .*| link to .*)?$/;
  const [, mode = '', owner = '', path = ''] = pattern.exec(line) ?? [];
  assert.notEqual(owner, '', line);
  return { mode, owner, path };
}

/** compressedBytes returns roughly the number of bytes that a registry would send for an image. */
export async function compressedBytes(image: string): Promise<number> {
  return Number(await pipe(['save', image], 'gzip | wc --bytes'));
}
