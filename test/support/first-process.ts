// Starts Node as PID 1, as in a container. For PID 1, the kernel applies no default action of a signal.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CommandUnderTest } from './command-under-test.ts';

const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;

/** The reason to skip a test that needs a PID namespace, or false. */
export const skip = canUnshare ? false : 'unshare --pid is not permitted here';

/** FirstProcess runs Node as PID 1 of a new PID namespace. */
export class FirstProcess extends CommandUnderTest {
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const script = `echo "unshare is $$"; exec unshare --pid --fork --mount-proc "$@"`;
    super('sh', ['-c', script, 'sh', process.execPath, ...args], { env, stdin: 'pipe' });
  }

  /**
   * signalFirst sends a signal to the process that is PID 1 in the new PID namespace. The signal comes from outside of
   * this namespace.
   */
  async signalFirst(signal: NodeJS.Signals): Promise<void> {
    const [, unshare = ''] = await this.printed(/unshare is (\d+)/);
    process.kill(Number(readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8')), signal);
  }
}
