// The resources that keep this process alive.
import { Socket } from 'node:net';

/**
 * heldBy lists the resources that keep the event loop alive. It omits standard output and standard error, which Node lists
 * although they hold nothing.
 */
export function heldBy(): string[] {
  const outputs = [process.stdout, process.stderr] as const;
  const holders = process.getActiveResourcesInfo();
  for (const output of outputs) {
    const index = holders.indexOf(output.isTTY ? 'TTYWrap' : 'PipeWrap');
    if (index !== -1 && output instanceof Socket) holders.splice(index, 1);
  }
  return holders;
}
