// Tests a page in Chromium. The page's server shuts down, and another server then listens on the same port.
// `.ci/browser` runs this file. The variable CHROMIUM names the browser.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { disposed } from '../../support/disposed.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';

// The value of LAMEDUCK_EVENT_STREAM_RETRY, in milliseconds. It is longer than the default reconnection time of every
// browser, so that the second server listens before an event stream reconnects.
const retry = 8_000;

// How long to wait until the page in the browser reports an expected state, in milliseconds. The first start of a
// browser is slow.
const patience = 40_000;

// The value of `EventSource.CONNECTING`.
const connecting = 0;

// The longest accepted delay of a browser's reconnection after the server's `retry` time, in milliseconds. A browser
// may start to count this time late.
const slack = 1_500;

interface Seen {
  readonly agent: string;
  readonly streams: readonly {
    readonly events: number;
    readonly missed: number;
    readonly openedAt: readonly number[];
    readonly errors: readonly { readonly at: number; readonly readyState: number }[];
  }[];
  readonly sockets: readonly { readonly messages: number; readonly closed?: object }[];
  readonly fetched: number;
  readonly failed?: { readonly at: number; readonly message: string };
}

for (const [name, SECURE] of [
  ['HTTP/1.1', '0'],
  ['HTTP/2 over TLS', '1'],
] as const) {
  test(`P-034, P-039 in ${name} Chromium's WebSockets see 1001, its event streams continue at the next server, and no fetch is lost`, async (t) => {
    const environment = {
      SECURE,
      LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s',
      LAMEDUCK_EVENT_STREAM_RETRY: `${String(retry)}ms`,
    };
    const first = disposed(t, new ProcessUnderTest('talks-to-a-browser.ts', environment));
    const port = String(await first.ready());
    const page = await open(t, `${SECURE === '1' ? 'https' : 'http'}://127.0.0.1:${port}`);
    await page.shows(({ streams, sockets, fetched }) => {
      return fetched > 20 && [...streams.map(({ events }) => events), ...counts(sockets)].every((count) => count > 5);
    });
    first.kill('SIGTERM');
    assert.deepEqual(await first.exit, { code: 0, signal: null }, first.output);
    const second = disposed(t, new ProcessUnderTest('talks-to-a-browser.ts', { ...environment, PORT: port }));
    await second.ready();
    const before = page.seen?.streams.map(({ events }) => events) ?? [];
    const seen = await page.shows(({ streams, sockets, failed }) => {
      const areBack = streams.every(
        ({ openedAt, events }, index) => openedAt.length > 1 && events > Number(before[index]) + 5,
      );
      return areBack && failed !== undefined && sockets.every(({ closed }) => closed !== undefined);
    });

    assert.match(seen.agent, /Chrom/);
    const goingAway = { code: 1001, reason: 'the server is shutting down', wasClean: true };
    for (const { closed } of seen.sockets) assert.deepEqual(closed, goingAway);
    assertCameBack(seen);
    const stopped = (await first.signaled('NotAcceptingNewRequest'))['time'] as number;
    assert.ok(
      Number(seen.failed?.at) >= stopped,
      `a fetch failed before NotAcceptingNewRequest: ${String(seen.failed?.message)}`,
    );
    const record = await first.finalLine();
    assert.deepEqual([record['longRunningEnded'], record['unfinished']], [6, []]);
    t.diagnostic(`${seen.agent}: ${String(seen.fetched)} fetched`);
  });
}

// Asserts that the page's event streams reconnected at different times, and that each stream received every event
// exactly once.
function assertCameBack({ streams }: Seen): void {
  const waited = streams.map(({ openedAt: [, again], errors: [error] }) => Number(again) - Number(error?.at));
  for (const [index, { missed, errors, openedAt }] of streams.entries()) {
    assert.deepEqual([missed, openedAt.length], [0, 2]);
    assert.deepEqual(
      errors.map(({ readyState }) => readyState),
      [connecting],
    );
    const wait = Number(waited[index]);
    assert.ok(
      wait >= retry / 2 && wait <= retry * 1.5 + slack,
      `the event stream reconnected after ${String(wait)} ms`,
    );
  }
  assert.ok(
    Math.max(...waited) - Math.min(...waited) > 20,
    `all event streams reconnected together, after ${waited.join(', ')} ms`,
  );
}

function counts(sockets: Seen['sockets']): number[] {
  return sockets.map(({ messages }) => messages);
}

interface Page {
  /** The newest report that the test page in the browser has sent about its event streams, WebSockets and fetches. */
  readonly seen: Seen | undefined;
  shows(isSo: (seen: Seen) => boolean): Promise<Seen>;
}

/** `open()` opens page.html in a new browser. The page connects to the target and reports what it sees. */
async function open(t: TestContext, target: string): Promise<Page> {
  let seen: Seen | undefined;
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      void text(request).then((report) => {
        seen = JSON.parse(report) as Seen;
        response.end();
      });
    } else {
      response.setHeader('Content-Type', 'text/html');
      response.end(readFileSync(join(import.meta.dirname, 'page.html')));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const profile = mkdtempSync(join(tmpdir(), 'lameduck-browser-'));
  const browser = new CommandUnderTest(process.env['CHROMIUM'] as string, [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-breakpad',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--ignore-certificate-errors',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    `http://127.0.0.1:${String(port)}/?target=${encodeURIComponent(target)}`,
  ]);
  t.after(async () => {
    await browser[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true });
  });
  return {
    get seen() {
      return seen;
    },
    async shows(isSo) {
      for (const deadline = performance.now() + patience; performance.now() < deadline; await setTimeout(20)) {
        if (seen !== undefined && isSo(seen)) return seen;
      }
      throw new Error(`the page shows ${JSON.stringify(seen)}\n${browser.output}`);
    },
  };
}
