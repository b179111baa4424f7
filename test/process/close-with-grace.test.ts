import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeWithGraceWarning, describeCloseWithGrace } from '../../src/process/close-with-grace.ts';

const cli = ['node', '/app/node_modules/.bin/fastify', 'start'];

for (const [args, environment] of [
  [['app.js'], {}],
  [['-g', '2000', 'app.js'], {}],
  [['-g=2000', 'app.js'], {}],
  [['-g2000', 'app.js'], {}],
  [['--close-grace-delay=10000', 'app.js'], {}],
  [['app.js', '--close-grace-delay', '10000'], { FASTIFY_CLOSE_GRACE_DELAY: '30000' }],
  [['app.js'], { FASTIFY_CLOSE_GRACE_DELAY: '10000' }],
] as const) {
  test(`with the variables ${JSON.stringify(environment)}, lameduck warns that fastify start ${args.join(' ')} ends the process before the drain is over`, () => {
    assert.equal(
      describeCloseWithGrace([...cli, ...args], 28_000, environment),
      'fastify-cli ends this process after its delay (default 500ms), even with requests in flight: start fastify-cli with --close-grace-delay 28000 or more',
    );
  });
}

for (const [args, environment] of [
  [['-g', '28000', 'app.js'], {}],
  [['app.js', '--close-grace-delay=30000'], { FASTIFY_CLOSE_GRACE_DELAY: '500' }],
  [['app.js'], { FASTIFY_CLOSE_GRACE_DELAY: '28000' }],
] as const) {
  test(`with the variables ${JSON.stringify(environment)}, the close delay of fastify start ${args.join(' ')} is long enough for the drain, and lameduck logs no warning`, () => {
    assert.equal(describeCloseWithGrace([...cli, ...args], 28_000, environment), undefined);
  });
}

test('lameduck also recognizes fastify-cli by the folder of its script, and does not take the option -g of any other program for the close delay of fastify-cli', () => {
  const byFolder = ['node', '/app/node_modules/fastify-cli/cli.js', 'start', 'app.js'];
  assert.match(describeCloseWithGrace(byFolder, 28_000, {}) ?? '', /^fastify-cli ends this process/);
  assert.match(
    describeCloseWithGrace(['node', '/app/server.js', '-g', '30000'], 28_000, {}) ?? '',
    /^close-with-grace ends this process after its delay, .*: set its delay to at least 28s, or remove close-with-grace/,
  );
});

test('P-070 a signal listener that does not belong to close-with-grace causes no warning about close-with-grace', (t) => {
  const onSignal = (signal: string): void => {
    process.stdout.write(signal);
  };
  const run = ({ signal }: { signal: string }): string => signal;
  const other = (signal: string): unknown => run({ signal });
  for (const listener of [onSignal, other]) process.on('SIGUSR2', listener);
  t.after(() => {
    for (const listener of [onSignal, other]) process.off('SIGUSR2', listener);
  });
  assert.equal(closeWithGraceWarning(['SIGUSR2'], 28_000, {}), undefined);
});
