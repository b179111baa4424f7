// What keeps a process alive that should end.
import { Socket } from 'node:net';

/** heldBy lists what keeps the event loop alive. The standard outputs are listed when they are open, though they hold nothing. */
export function heldBy(): string[] {
  const outputs = [process.stdout, process.stderr] as const;
  const holders = process.getActiveResourcesInfo();
  for (const output of outputs) {
    const index = holders.indexOf(output.isTTY ? 'TTYWrap' : 'PipeWrap');
    if (index !== -1 && output instanceof Socket) holders.splice(index, 1);
  }
  return holders;
}
