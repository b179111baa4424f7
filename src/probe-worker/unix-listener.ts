// Makes a server listen on a Unix socket to which only the user of the process can connect. It never replaces the
// socket of another process.
import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync, rmdirSync, type Stats } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';

// The longest path of a Unix socket, in bytes without the final NUL, that every system with Node accepts (sockaddr_un).
const longestPath = 103;

/**
 * listenOn makes the server listen on a Unix socket at the path. A thread cannot set the umask, so listenOn binds the
 * socket in a private folder next to the path. It then changes the mode of the socket to 0600 and renames the socket to
 * the path. If the path exists, it must be a socket of the same user on which no process listens. Otherwise, listenOn
 * rejects and does not change the path. The returned function removes the socket, unless another file has replaced it.
 */
export async function listenOn(server: Server, path: string): Promise<() => void> {
  await checkPath(path);
  const folder = mkdtempSync(join(dirname(path), '.lameduck-'));
  const bound = join(folder, 's');
  try {
    if (Buffer.byteLength(bound) > longestPath) {
      throw new Error(`the path must have at most ${String(longestPath - bound.length + path.length)} bytes`);
    }
    await listening(server, bound);
    chmodSync(bound, 0o600);
    // Check the path of the socket a second time. Another process may have bound a socket at this path since the first
    // call of checkPath.
    await checkPath(path);
    renameSync(bound, path);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    rmSync(bound, { force: true });
    rmdirSync(folder);
  }
  const own = lstatSync(path);
  return () => {
    const found = look(path);
    if (found?.ino === own.ino && found.dev === own.dev) rmSync(path, { force: true });
  };
}

async function checkPath(path: string): Promise<void> {
  const found = look(path);
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error('the path exists and is not a Unix socket');
  const user = process.geteuid?.();
  if (found.uid !== user)
    throw new Error(
      `the Unix socket belongs to user ID ${String(found.uid)}, but this process runs as user ID ${String(user)}`,
    );
  if (await isHeard(path)) throw new Error('another process listens on the socket');
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isHeard(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const client = connect(path);
  client.on('connect', () => {
    client.destroy();
    resolve(true);
  });
  // Only ECONNREFUSED and ENOENT prove that no process listens on the socket. Other errors, such as EAGAIN for a full
  // backlog, prove nothing.
  client.on('error', ({ code }: NodeJS.ErrnoException) => {
    resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
  });
  return promise;
}

function listening(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  server.once('error', reject);
  server.listen(path, () => {
    server.off('error', reject);
    resolve(undefined);
  });
  return promise;
}
