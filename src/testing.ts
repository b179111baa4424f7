// The package's export `lameduck/testing`: one function that runs a server through a whole shutdown.
import { Server as NetServer } from 'node:net';
import { LameduckError, quoted } from './errors.ts';
import type { Lameduck } from './handle.ts';
import type { Server } from './http/server.ts';
import { lifecycleOf, manage, type ManagedLifecycle } from './manage.ts';
import type { ShutdownRecord } from './observer.ts';
import { quiet } from './observers/logger.ts';
import { checkFunction, checkOptions, readLimit } from './arguments.ts';
import { formatDuration, type Duration } from './settings/duration.ts';
import { isDisabled } from './settings/environment.ts';
import { isDoneWithin, resultOf, settle, workFailed } from './testing/outcome.ts';
import { AwaitedRequest } from './testing/awaited-request.ts';
import { listenPlainly, originOf, start, type Listen } from './testing/start.ts';

export type { ShutdownRecord } from './observer.ts';

/**
 * RunShutdownOptions are the options of `runShutdown`: the request during which the shutdown begins, and a time limit.
 */
export interface RunShutdownOptions {
  /**
   * `during` is the path of a request of `work`, without a query. The shutdown begins while this request is in flight.
   *
   * @default the path of the first request of `work`
   */
  readonly during?: string | undefined;
  /**
   * `timeout` is the limit of each wait, as a duration such as `3s`. runShutdown waits until the server is ready, until
   * the request arrives, and until `work` settles after the shutdown.
   *
   * @default `3s`
   */
  readonly timeout?: Duration | undefined;
}

/** ShutdownRun is the result of `runShutdown`: the record of the shutdown, and the result of the function `work`. */
export interface ShutdownRun<Result> {
  /** `record` is the record of the shutdown, which the final line of the log also shows. */
  readonly record: ShutdownRecord;
  /** `result` is what `work` returned or resolved with. */
  readonly result: Result;
}

/** FastifyApp is a Fastify application in which `lameduck/fastify` is registered. */
export interface FastifyApp {
  readonly server: Server;
  readonly lameduck: Lameduck;
  ready(): PromiseLike<unknown>;
  listen(address: { port: number; host: string }): PromiseLike<unknown>;
}

/**
 * runShutdown runs a server through a whole shutdown in a test, without the shutdown delay and without ending the
 * process.
 *
 * 1. It listens on a free port, unless the server already listens, and waits until the server is ready.
 * 2. It calls `work` with the server's origin, such as `http://127.0.0.1:40123`.
 * 3. It begins the shutdown while the first request of `work` is in flight.
 * 4. It resolves when `work` and the shutdown have ended.
 *
 * A server without a lifecycle gets one. Rejects with LAMEDUCK_ERR_NEVER_READY, LAMEDUCK_ERR_WORK_FAILED,
 * LAMEDUCK_ERR_DISABLED or an error of `lameduck()`. If `work` throws, rejects with that error, or with
 * LAMEDUCK_ERR_WORK_FAILED if the shutdown has cut a request.
 */
export async function runShutdown<Result>(
  server: Server | FastifyApp,
  work: (origin: string) => Result,
  options: RunShutdownOptions = {},
): Promise<ShutdownRun<Awaited<Result>>> {
  checkFunction('the work of runShutdown()', work);
  const { during, timeout } = readOptions(options);
  checkEnabled();
  const app = isFastifyApp(server) ? server : undefined;
  await app?.ready();
  const own = app === undefined ? (server as Server) : app.server;
  const { parts, servers, detach } = lifecycleFor(own, app);
  // Disconnect the lifecycle from the process: a process signal then does not begin this shutdown, and lameduck does
  // not end the test process.
  detach();
  const begin = (): Promise<ShutdownRecord> => parts.shutdown.begin('runShutdown()', { skipsDelay: true });
  const request = new AwaitedRequest(servers, { traffic: parts.traffic, path: during, callback: () => void begin() });
  try {
    const listen: Listen = (one, address) => (one === app?.server ? app.listen(address) : listenPlainly(one, address));
    await start(parts, servers, listen, timeout);
    const origin = originOf(own);
    request.begin();
    const outcome = settle(work, origin);
    await isDoneWithin(timeout, Promise.race([outcome, parts.handle.signals.shutdownInitiated.signaled]));
    const record = await begin();
    const limit = formatDuration(timeout);
    if (!(await isDoneWithin(timeout, outcome)))
      throw workFailed(`the function \`work\` was still running ${limit} after the end of the shutdown`);
    const result = resultOf(await outcome, record);
    if (!request.hasCome) throw sentNothing(during);
    return { record, result };
  } finally {
    await begin();
    request.end();
  }
}

function sentNothing(during: string | undefined): LameduckError {
  if (during !== undefined) return workFailed(`the function \`work\` sent no request to the path ${quoted(during)}`);
  return workFailed('the function `work` sent no request other than probes, so the shutdown had nothing to wait for');
}

const defaultTimeout = 3_000;

function readOptions(options: RunShutdownOptions): { during: string | undefined; timeout: number } {
  checkOptions('runShutdown()', options, ['during', 'timeout']);
  const { during, timeout = defaultTimeout } = options;
  if (during !== undefined && (typeof (during as unknown) !== 'string' || !/^\/[^?]*$/.test(during))) {
    const message = `option during of runShutdown(): ${quoted(during)}: expected a path without a query, such as /orders`;
    throw new LameduckError('LAMEDUCK_ERR_OPTIONS_INVALID', message);
  }
  return { during, timeout: readLimit('option timeout of runShutdown()', timeout) };
}

function checkEnabled(): void {
  if (isDisabled(process.env) !== true) return;
  refuse('LAMEDUCK_ERR_DISABLED', 'LAMEDUCK_DISABLED is set', 'an environment without it');
}

function isFastifyApp(given: unknown): given is FastifyApp {
  if (typeof given !== 'object' || given === null || given instanceof NetServer) return false;
  const { ready, listen } = given as Partial<FastifyApp>;
  return typeof ready === 'function' && typeof listen === 'function';
}

function lifecycleFor(server: Server, app: FastifyApp | undefined): ManagedLifecycle {
  const lifecycle = server instanceof NetServer ? lifecycleOf(server) : undefined;
  if (lifecycle?.parts.handle.signals.shutdownInitiated.hasSignaled === true) {
    refuse(
      'LAMEDUCK_ERR_SERVER_CLOSED',
      'the shutdown of this server has already begun',
      'a server before its shutdown',
    );
  }
  if (lifecycle !== undefined) return lifecycle;
  if (app !== undefined) {
    const allowed =
      'a Fastify application that has registered lameduck/fastify, or a server that does not belong to a Fastify application';
    refuse('LAMEDUCK_ERR_SERVER_INVALID', 'a Fastify application without lameduck', allowed);
  }
  return manage([server], { logger: quiet }, process.env);
}

type Refusal = 'LAMEDUCK_ERR_DISABLED' | 'LAMEDUCK_ERR_SERVER_CLOSED' | 'LAMEDUCK_ERR_SERVER_INVALID';

function refuse(code: Refusal, given: string, allowed: string): never {
  throw new LameduckError(code, `runShutdown(): ${given}: expected ${allowed}`);
}
