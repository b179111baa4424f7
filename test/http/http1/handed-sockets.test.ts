// A net.Server that hands its sockets to an HTTP server which never listens: the lifecycle does not start, and says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { registered } from '../../support/guest.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';

for (const [how, env, warning] of [
  ['lameduck() in code', { WITH_CODE: '1' }, /a server that does not listen gets requests: its lifecycle starts when/],
  [
    'lameduck/register',
    registered(),
    /^lameduck\/register: a server that does not listen gets requests: it gets no lifecycle/m,
  ],
] as const) {
  test(`with ${how} a server that is handed sockets and never listens is warned about once`, async (t) => {
    const program = disposed(t, new ProcessUnderTest('hands-sockets-to-a-server.ts', env));
    const port = await program.port();
    for (let request = 0; request < 3; request++) {
      assert.equal(await (await fetch(`http://127.0.0.1:${String(port)}/`)).text(), 'served');
    }
    await program.printed(warning);
    assert.equal(program.output.match(/does not listen gets requests/g)?.length, 1);
  });
}
