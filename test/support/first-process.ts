// A process that is PID 1, as the program of a container is, for which the kernel has no default for a process signal.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CommandUnderTest } from './command-under-test.ts';

const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;

/** For the tests: why there can be no such process here. */
export const skip = canUnshare ? false : 'unshare --pid is not permitted here';

/** FirstProcess is Node as PID 1 of a namespace of its own. */
export class FirstProcess extends CommandUnderTest {
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const script = `echo "unshare is $$"; exec unshare --pid --fork --mount-proc "$@"`;
    super('sh', ['-c', script, 'sh', process.execPath, ...args], { env, stdin: 'pipe' });
  }

  /** signalFirst signals it as those do who see it from outside. */
  async signalFirst(signal: NodeJS.Signals): Promise<void> {
    const [, unshare = ''] = await this.printed(/unshare is (\d+)/);
    process.kill(Number(readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8')), signal);
  }
}
