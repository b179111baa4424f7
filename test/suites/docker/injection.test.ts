// Runs the containers that the patch of examples/kustomize adds to a pod, with docker or podman. One container copies
// the package, and the other loads the package into a program without lameduck.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { get, newAccount, runClient } from '../../support/closed-loop-client.ts';
import { disposed } from '../../support/disposed.ts';
import { readPage } from '../../support/markdown.ts';
import { reservePort } from '../../support/reserved-port.ts';
import { until } from '../../support/until.ts';
import { Container, image, readOnly } from './runtime.ts';

interface PodSpec {
  readonly initContainers: readonly [{ readonly command: readonly [string, ...string[]] }];
  readonly containers: readonly [{ readonly env: readonly { readonly name: string; readonly value: string }[] }];
}

const { spec } = parse(readPage('examples/kustomize/lameduck/inject.yaml')) as {
  spec: { template: { spec: PodSpec } };
};
const {
  initContainers: [injector],
  containers: [server],
} = spec.template.spec;

// Options of the container runtime that match pod security `restricted`. They run the container as `user`, and not as
// the user that the image sets.
const restrictedTo = (user: string): string[] => {
  return [...readOnly, '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--user', `${user}:${user}`];
};

const legacy = `
  const server = require('node:http').createServer((_, response) => setTimeout(() => response.end('legacy'), 20));
  server.listen(process.env.PORT);
  process.on('SIGTERM', () => server.close((error) => {
    console.log('its own cleanup');
    process.exit(error ? 1 : 0);
  }));
`;

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'injection-'));
  t.after(() => rm(made, { recursive: true }));
  // An emptyDir volume has the mode 0777, so the test gives its folder the same mode.
  await chmod(made, 0o777);
  return made;
}

function inject(t: TestContext, volume: string): Container {
  const [program, ...args] = injector.command;
  // If a pod names no user, each of its containers runs as the user of its image. The two images of this test have
  // different users.
  const options = [...restrictedTo('2000'), '--entrypoint', program, '--volume', `${volume}:/opt/lameduck`];
  return disposed(t, new Container(options, image, args));
}

test('the inject patch of examples/kustomize copies lameduck from its own image into a pod, and a program without lameduck gets the lifecycle', async (t) => {
  const volume = await folder(t);
  for (const run of ['at first', 'after a restart of the node']) {
    const container = inject(t, volume);
    assert.deepEqual(await container.exit, { code: 0, signal: null }, `${run}: ${container.output}`);
    assert.deepEqual(await readdir(volume), ['package'], run);
  }

  const program = await folder(t);
  await writeFile(join(program, 'server.cjs'), legacy);
  const [port, probePort] = [await reservePort(), await reservePort()];
  const own = { PORT: String(port), LAMEDUCK_PROBE_PORT: String(probePort), LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s' };
  const variables = { ...Object.fromEntries(server.env.map(({ name, value }) => [name, value])), ...own };
  const container = disposed(
    t,
    new Container(
      [
        ...restrictedTo('1000'),
        '--volume',
        `${volume}:/opt/lameduck:ro`,
        '--volume',
        `${program}:/program:ro`,
        ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        '--entrypoint',
        '/nodejs/bin/node',
      ],
      image,
      ['/program/server.cjs'],
    ),
  );
  for (const line of [/"name":"HasBeenReady"/, /"msg":"probe port listens"/]) await container.printed(line);
  assert.equal((await fetch(`http://127.0.0.1:${String(probePort)}/readyz`)).status, 200);

  const [account, stop] = [newAccount(), new AbortController()];
  const clients = Array.from({ length: 10 }, () => runClient({ port, request: get, account, stop: stop.signal }));
  await until(() => account.answered >= 50);
  await container.stop(30);
  stop.abort();
  await Promise.all(clients);
  assert.deepEqual(await container.exit, { code: 0, signal: null }, container.output);
  assert.deepEqual(account.lost, []);
  assert.match(container.output, /"exitCode":0,[^]*its own cleanup/);
});
