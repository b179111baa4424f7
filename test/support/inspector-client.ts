// A debugger that attaches to a program and does nothing else.
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { CommandUnderTest } from './command-under-test.ts';

/**
 * attachDebugger connects to the inspector of a program that was started with `--inspect`. It returns a function that
 * detaches the debugger.
 */
export async function attachDebugger(t: TestContext, program: CommandUnderTest): Promise<() => void> {
  const [, url = ''] = await program.printed(/Debugger listening on (ws:\S+)/);
  const socket = new WebSocket(url);
  const detach = (): void => {
    socket.close();
  };
  t.after(detach);
  await once(socket as never, 'open');
  return detach;
}
