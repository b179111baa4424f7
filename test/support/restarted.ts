// A program that its developer restarts, and how long each restart takes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { linger } from '../../src/http/drain/drain.ts';
import { disposed } from './disposed.ts';
import { LoggingCommand, type Line } from './process-under-test.ts';

/** Restarted is a program that is started once or, by a watcher, again and again. */
export class Restarted {
  readonly command: LoggingCommand;
  readonly #test: TestContext;
  #seen = 0;

  constructor(t: TestContext, ...command: ConstructorParameters<typeof LoggingCommand>) {
    this.#test = t;
    this.command = disposed(t, new LoggingCommand(...command));
  }

  /**
   * restart calls `end` while a browser has idle connections, and another client those that `open` makes. It resolves with how
   * many milliseconds the process took.
   */
  async restart(end: (pid: number) => void, open?: (port: number) => void): Promise<number> {
    const { port, pid } = await this.#next('listening');
    await this.#next('HasBeenReady');
    open?.(Number(port));
    await this.#openIdle(Number(port));
    end(Number(pid));
    const { time: since } = await this.#next('ShutdownInitiated');
    assert.equal((await this.#next('shutdown ended'))['exitCode'], 0);
    return Number((await this.#next('exit'))['time']) - Number(since);
  }

  /** next resolves with the next line that has this message, or names this lifecycle signal. */
  async #next(what: string): Promise<Line> {
    const { lines } = this.command;
    const line = await this.command.line(
      what,
      (one) => lines.indexOf(one) >= this.#seen && [one.msg, one['name']].includes(what),
    );
    this.#seen = lines.indexOf(line) + 1;
    return line;
  }

  // A browser keeps a connection that it has used, and opens another one ahead of time.
  async #openIdle(port: number): Promise<void> {
    const [used, preconnected] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    for (const socket of [used, preconnected]) this.#test.after(() => socket.destroy());
    used.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([once(used, 'data'), once(preconnected, 'connect')]);
  }
}

/**
 * assertRestartsAtOnce asserts that a restart waits neither for the delay nor for silence on idle connections, the shorter of
 * the two. Such a wait would be in every restart, and what a busy machine adds is not: the fastest of a few decides.
 */
export async function assertRestartsAtOnce(restart: () => Promise<number>): Promise<void> {
  let fastest = Infinity;
  for (let round = 0; round < 5 && fastest >= linger; round++) fastest = Math.min(fastest, await restart());
  assert.ok(fastest < linger, `the fastest waited ${String(fastest)} ms`);
}
