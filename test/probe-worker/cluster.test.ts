// Tests the probe port of workers of node:cluster. They share the ports of their servers, but not the probe port.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { probe } from '../support/probe-client.ts';
import { reservePort } from '../support/reserved-port.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

function start(t: TestContext, env: Readonly<Record<string, string>>): ProcessUnderTest {
  return disposed(t, new ProcessUnderTest('runs-a-cluster.ts', env));
}

const addresses = (program: ProcessUnderTest): unknown[] =>
  program.lines.filter(({ msg }) => msg === 'probe port listens').map(({ address }) => address);

test('each cluster worker with its own probe port serves probes there', async (t) => {
  const ports = [await reservePort(), await reservePort()];
  const program = start(t, { OWN_PORTS: ports.join(' ') });
  await until(() => addresses(program).length === 2);
  for (const port of ports) assert.equal((await probe(port, '/readyz')).status, 200);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 0, signal: null });
  const ended = program.lines.filter(({ msg }) => msg === 'worker has ended').map(({ code }) => code);
  assert.deepEqual(ended, [0, 0]);
});

test('if two cluster workers have the same probe port, the second worker exits with 82, and the first continues', async (t) => {
  const port = await reservePort();
  const program = start(t, { LAMEDUCK_PROBE_PORT: String(port) });
  const { code } = await program.line('its end', ({ msg }) => msg === 'worker has ended');
  assert.equal(code, 82);
  assert.match(program.stderr, /LAMEDUCK_ERR_PROBE_PORT_FAILED/);
  assert.equal((await probe(port, '/livez')).status, 200);
  assert.equal(addresses(program).length, 1);
});

test('the probe port of one cluster worker is served even if the other worker has no probe port', async (t) => {
  const port = await reservePort();
  const program = start(t, { OWN_PORTS: `${String(port)} off` });
  await until(() => addresses(program).length === 1);
  await until(() => program.lines.filter(({ name }) => name === 'HasBeenReady').length === 2);
  assert.equal((await probe(port, '/readyz')).status, 200);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 0, signal: null });
});
