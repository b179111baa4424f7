// The ways to shut down a server that the benchmarks compare: bare node:http, lameduck and similar packages. Each
// package is used as in the first example of its README.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { lameduck } from '../src/index.ts';

/**
 * Install is a function that makes a server shut down on SIGTERM. Between SIGTERM and the shutdown, the server serves
 * normally for `delay` milliseconds. Without `delay`, the shutdown package uses its own default delay.
 */
export type Install = (server: Server, delay?: number) => unknown;

const peers = new URL('./peers/', import.meta.url);
const require = createRequire(peers);

/**
 * `implementations` maps a name to the way in which a server gets its shutdown. `bare` is a server without a shutdown
 * package. Every name except `bare` and `lameduck` is a package in `bench/peers`.
 */
export const implementations: Readonly<Record<string, Install>> = {
  bare(server, delay) {
    onSigterm(delay, () => server.close());
  },
  lameduck(server, delay) {
    lameduck(server, delay === undefined ? {} : { shutdownDelayDuration: delay });
  },
  stoppable(server, delay) {
    const stoppable = require('stoppable') as (server: Server) => { stop(): void };
    const stopping = stoppable(server);
    onSigterm(delay, () => {
      stopping.stop();
    });
  },
  'http-terminator'(server, delay) {
    const { createHttpTerminator } = require('http-terminator') as {
      createHttpTerminator: (options: { server: Server }) => { terminate(): Promise<void> };
    };
    const terminator = createHttpTerminator({ server });
    onSigterm(delay, () => terminator.terminate());
  },
  'http-graceful-shutdown'(server, delay) {
    const gracefulShutdown = require('http-graceful-shutdown') as (
      server: Server,
      options: { preShutdown(): Promise<void> },
    ) => void;
    gracefulShutdown(server, { preShutdown: () => sleep(delay) });
  },
  '@godaddy/terminus'(server, delay) {
    const { createTerminus } = require('@godaddy/terminus') as {
      createTerminus: (server: Server, options: object) => void;
    };
    createTerminus(server, {
      signal: 'SIGTERM',
      healthChecks: { '/readyz': () => Promise.resolve() },
      beforeShutdown: () => sleep(delay),
    });
  },
  async lightship(server, delay) {
    // In the package lightship, the field `exports` gives require() a file that Node cannot load. So import another
    // file of lightship.
    const { createLightship } = (await import(new URL('node_modules/lightship/dist/esm/index.js', peers).href)) as {
      createLightship: (options: { shutdownDelay?: number }) => Promise<{
        registerShutdownHandler(handler: () => void): void;
        signalReady(): void;
      }>;
    };
    const lightship = await createLightship(delay === undefined ? {} : { shutdownDelay: delay });
    lightship.registerShutdownHandler(() => {
      server.close();
    });
    lightship.signalReady();
  },
  'close-with-grace'(server, delay) {
    const closeWithGrace = require('close-with-grace') as (close: () => Promise<void>) => void;
    closeWithGrace(async () => {
      await sleep(delay);
      server.close();
      await once(server, 'close');
    });
  },
};

/** versionOf returns the version of a peer package, or undefined if it is not installed. */
export function versionOf(name: string): string | undefined {
  const file = new URL(`node_modules/${name}/package.json`, peers);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function onSigterm(delay: number | undefined, stop: () => unknown): void {
  process.once('SIGTERM', () => {
    void sleep(delay).then(stop);
  });
}
