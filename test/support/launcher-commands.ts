// Commands of containers, most of them with a wrapper such as an init process. In some of them, npm or a shell starts
// the program.

/** Command is the command of a container and its arguments. */
export interface Command {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

/** wrapped lists commands that start the program through npm or a shell. */
export const wrapped: readonly Command[] = [
  { command: ['tini', '--', 'npm', 'start'] },
  { command: ['/sbin/tini', '-s', '-g', '--'], args: ['npm', 'start'] },
  { command: ['tini', '-p', 'SIGTERM', '--', '/bin/sh', '-c', 'node server.js'] },
  { command: ['dumb-init', 'npm', 'start'] },
  { command: ['dumb-init', '--rewrite', '15:3', 'yarn', 'start'] },
  { command: ['catatonit', '--', 'pnpm', 'start'] },
  { command: ['docker-entrypoint.sh'], args: ['npm', 'start'] },
  { command: ['/usr/bin/env', '-u', 'DEBUG', 'NODE_ENV=production', 'npm', 'start'] },
  { command: ['tini', '--', 'docker-entrypoint.sh', 'npm', 'start'] },
  { args: ['--', 'npm', 'start'] },
];

/**
 * unwrapped lists commands that start the program without npm and without a shell, although most of them contain the
 * word `npm` or `sh`.
 */
export const unwrapped: readonly Command[] = [
  { command: ['tini', '--', 'node', 'npm'] },
  { command: ['tini', '--'], args: ['node', 'sh'] },
  { command: ['dumb-init', 'node', '--', 'npm'] },
  { command: ['docker-entrypoint.sh'], args: ['node', '-e', 'import("./server.js")\nnpm\n'] },
  { command: ['env', 'NODE_ENV=npm', 'node', 'server.js'] },
  { command: ['tini'] },
  { args: ['server.js', 'npm'] },
];
