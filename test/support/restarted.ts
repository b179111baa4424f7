// Restarts a program during development, for example by a watcher, and measures how long the old process takes to exit.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { disposed } from './disposed.ts';
import { LoggingCommand, type Line } from './process-under-test.ts';

/**
 * Restart describes one shutdown during development. `tookMs` is the time from ShutdownInitiated to the exit of the
 * process, in milliseconds.
 */
export interface Restart {
  readonly tookMs: number;
  /**
   * How long the event loop was idle during the shutdown, in milliseconds. This time shows whether the shutdown waited
   * for something. On a busy machine, `tookMs` also contains the time for which the process waited for a processor.
   */
  readonly idleMs: number;
}

/** Restarted is a test program that runs once, or that a watcher restarts after each change of a file. */
export class Restarted {
  readonly command: LoggingCommand;
  readonly #test: TestContext;
  #seen = 0;

  constructor(t: TestContext, ...command: ConstructorParameters<typeof LoggingCommand>) {
    this.#test = t;
    const [program, args, options = {}] = command;
    // In development mode, lameduck logs its lines about signals at the level `debug`, so these tests need this level.
    const env = { LAMEDUCK_LOG_LEVEL: 'debug', ...options.env };
    this.command = disposed(t, new LoggingCommand(program, args, { ...options, env }));
  }

  /**
   * `restart()` opens connections to the server, calls `end`, and resolves after the exit of the server. `end` must
   * make the server exit. The connections, which a browser would keep open, are idle during the shutdown. `open` can
   * open further connections before the shutdown begins.
   */
  async restart(end: (pid: number) => void, open?: (port: number) => void): Promise<Restart> {
    const { port, pid } = await this.#next('listening');
    await this.#next('HasBeenReady');
    open?.(Number(port));
    await this.#openIdle(Number(port));
    end(Number(pid));
    const { time: since } = await this.#next('ShutdownInitiated');
    assert.equal((await this.#next('shutdown ended'))['exitCode'], 0);
    const { time, idle } = await this.#next('exit');
    return { tookMs: Number(time) - Number(since), idleMs: Number(idle) };
  }

  /**
   * Resolves with the next log line whose field `msg` or field `name` is `what`. `name` is the name of a lifecycle
   * signal.
   */
  async #next(what: string): Promise<Line> {
    const { lines } = this.command;
    const line = await this.command.line(
      what,
      (one) => lines.indexOf(one) >= this.#seen && [one.msg, one['name']].includes(what),
    );
    this.#seen = lines.indexOf(line) + 1;
    return line;
  }

  // Opens two idle connections to the program, as a browser does. The first stays open after a request and its
  // response. On the second, no request is sent.
  async #openIdle(port: number): Promise<void> {
    const [used, preconnected] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    for (const socket of [used, preconnected]) this.#test.after(() => socket.destroy());
    used.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([once(used, 'data'), once(preconnected, 'connect')]);
  }
}

// How many milliseconds longer a server with lameduck may take to shut down during development than a server without
// lameduck (P-107).
const promised = 100;

const bare = fileURLToPath(new URL('../fixtures/restarts-bare.ts', import.meta.url));

/**
 * assertRestartsAtOnce asserts that a restart takes at most 100 ms longer than the restart of a server without lameduck
 * on the same machine. On a busy machine, even an idle process waits for a processor. So the test compares only the
 * fastest of several restarts of each server. `cleanup` is how many milliseconds the program's own signal listener
 * waits. This time is subtracted from the time of the restart.
 */
export async function assertRestartsAtOnce(
  t: TestContext,
  restart: () => Promise<Restart>,
  cleanup = 0,
): Promise<void> {
  let [fastest, fastestBare] = [Infinity, Infinity];
  const excess = (): number => fastest - cleanup - fastestBare;
  for (let round = 0; round < 8 && (round === 0 || excess() > promised); round++) {
    const restarted = new Restarted(t, process.execPath, [bare]);
    const { idleMs } = await restarted.restart((pid) => process.kill(pid, 'SIGTERM'));
    fastestBare = Math.min(fastestBare, idleMs);
    fastest = Math.min(fastest, (await restart()).idleMs);
  }
  const times = `the fastest restart waited ${fastest.toFixed(1)} ms, and ${fastestBare.toFixed(1)} ms without lameduck`;
  assert.ok(excess() <= promised, times);
}
