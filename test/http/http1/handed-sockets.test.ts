// Tests a net.Server that hands its sockets to an HTTP server that never listens. The lifecycle does not start, and
// lameduck logs a warning about this.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { registered } from '../../support/under-register.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';

for (const [how, env, warning] of [
  ['lameduck() in code', { WITH_CODE: '1' }, /a server gets requests but does not listen: its lifecycle starts when/],
  [
    'lameduck/register',
    registered(),
    /^lameduck\/register: a server gets requests but does not listen: lameduck neither drains it/m,
  ],
] as const) {
  test(`with ${how} a server that is handed sockets and never listens causes one warning`, async (t) => {
    const program = disposed(t, new ProcessUnderTest('hands-sockets-to-a-server.ts', env));
    const port = await program.port();
    for (let request = 0; request < 3; request++) {
      assert.equal(await (await fetch(`http://127.0.0.1:${String(port)}/`)).text(), 'served');
    }
    await program.printed(warning);
    assert.equal(program.output.match(/gets requests but does not listen/g)?.length, 1);
  });
}
