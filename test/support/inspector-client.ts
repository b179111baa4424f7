// A debugger that is attached to a program and does nothing.
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { CommandUnderTest } from './command-under-test.ts';

/** attachDebugger connects to the inspector that the program was started with. The returned function detaches. */
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
