// The kubelet's exec probe: runs a command inside the container. The exit code of this command decides whether the
// probe succeeds.
import type { Container } from '../container.ts';
import type { Attempt } from './outcome.ts';

/**
 * probeExec makes one attempt of an exec probe. If the command cannot be started, the result is an error, not a failure
 * (K-037). The promise never rejects.
 */
export async function probeExec(
  container: Container,
  command: readonly string[],
  timeoutSeconds: number,
): Promise<Attempt> {
  const run = await container.run(command, timeoutSeconds * 1_000);
  switch (run.kind) {
    case 'exited':
      return { result: run.code === 0 ? 'success' : 'failure', output: run.output };
    case 'timedOut':
      return { result: 'failure', output: `command timed out after ${String(timeoutSeconds)}s` };
    case 'notStarted':
      return { result: 'error', output: run.reason };
    default:
      return run satisfies never;
  }
}
