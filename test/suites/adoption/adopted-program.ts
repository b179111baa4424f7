// Runs one program in its own process, with lameduck/register or without, and reports the results of its clients.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { certificate } from '../../fixtures/certificate.ts';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { reservePort } from '../../support/reserved-port.ts';
import { until } from '../../support/until.ts';
import { ask, Load, type Ended, type Target } from './load.ts';
import type { Paths, Startable } from './program.ts';

export const delay = 1_000;
/**
 * The grace period in milliseconds. If a program is still running this long after its process signal, the test kills
 * the program with SIGKILL, as the kubelet would.
 */
export const gracePeriod = 10_000;
const register = 'lameduck/register';

/** AdoptedProgram is a running program. At the end of its scope, it is stopped and its files are removed. */
export class AdoptedProgram implements AsyncDisposable {
  readonly probes: Target;
  readonly targets: readonly Target[];
  readonly paths: Paths;
  readonly #command: CommandUnderTest;
  readonly #folder: string;
  #wasKilled = false;

  static async start(root: string, program: Startable, isRegistered: boolean): Promise<AdoptedProgram> {
    const ports = await Promise.all([reservePort(), reservePort(), reservePort()]);
    return new AdoptedProgram(root, program, isRegistered, ports);
  }

  constructor(root: string, program: Startable, isRegistered: boolean, ports: readonly [number, number, number]) {
    const { protocol = 'http', paths = { quick: '/', slow: '/slow' } } = program;
    const [port, adminPort, probePort] = ports;
    this.targets = [port, ...(program.hasAdminPort === true ? [adminPort] : [])].map((one) => ({
      port: one,
      protocol,
    }));
    this.paths = paths;
    this.probes = { port: probePort, protocol: 'http' };
    this.#folder = mkdtempSync(join(tmpdir(), 'lameduck-adoption-'));
    const files = { key: this.#file('key.pem', certificate.key), cert: this.#file('cert.pem', certificate.cert) };
    this.#command = new CommandUnderTest(process.execPath, argsOf(program, isRegistered), {
      cwd: join(root, program.folder),
      env: {
        ...program.env,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        TLS_KEY: files.key,
        TLS_CERT: files.cert,
        ACCEPTED_PORTS: this.#file('accepted', ''),
        NODE_OPTIONS: nodeOptionsOf(program, isRegistered),
        LAMEDUCK_PROBE_PORT: String(probePort),
        LAMEDUCK_SHUTDOWN_DELAY_DURATION: `${String(delay)}ms`,
        // Under `node --watch`, the log has the lines about signals only at the level `debug`.
        LAMEDUCK_LOG_LEVEL: 'debug',
      },
    });
  }

  get output(): string {
    return this.#command.output;
  }

  /** Returns how many times the program has printed the given line. */
  countOf(line: string): number {
    return this.output.split('\n').filter((printed) => printed === line).length;
  }

  /**
   * `serving()` resolves when each server of the program responds to `path`. It rejects if the program ends before
   * that.
   */
  async serving(targets = this.targets, path = this.paths.quick): Promise<void> {
    const deadline = Date.now() + 30_000;
    for (const target of targets) {
      while ((await ask(target, path, this.paths.header))?.status !== 200) {
        const hasEnded = await Promise.race([this.#command.exit.then(() => true), sleep(20, false)]);
        if (hasEnded || Date.now() > deadline) throw new Error(`does not answer ${path}:\n${this.output}`);
      }
    }
  }

  /** `probed()` resolves when the probe port reports the program as ready. The probe port opens after the servers. */
  async probed(): Promise<void> {
    await this.serving([this.probes], '/readyz');
  }

  /** `loaded()` starts the clients, and resolves when each of them gets responses. */
  async loaded(): Promise<Load> {
    const load = new Load(this.targets, this.paths);
    try {
      await until(() => load.isFlowing);
    } catch (error) {
      load.stop();
      throw error;
    }
    return load;
  }

  kill(signal: NodeJS.Signals): void {
    this.#command.kill(signal);
  }

  /** `ended()` resolves with how the program has ended: its exit code, the signal that ended it, or `killed`. */
  async ended(): Promise<string> {
    const timer = setTimeout(() => {
      this.#wasKilled = true;
      process.kill(-(this.#command.child.pid as number), 'SIGKILL');
    }, gracePeriod);
    const { code, signal } = await this.#command.exit;
    clearTimeout(timer);
    return this.#wasKilled ? 'killed' : String(code ?? signal);
  }

  /**
   * `lost()` returns the requests that the clients have lost, except those on connections that the program never
   * accepted.
   */
  lost(clients: readonly Ended[]): string[] {
    const accepted = new Set(readFileSync(join(this.#folder, 'accepted'), 'utf8').split('\n').map(Number));
    return clients.flatMap(({ account: { lost, lostPorts, resetPorts } }) => [
      ...lost.filter((_reason, index) => {
        const first = lostPorts[index];
        return first === undefined || accepted.has(first);
      }),
      ...resetPorts.filter((port) => accepted.has(port)).map((port) => `port ${String(port)} was reset before TLS`),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#command[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true });
  }

  #file(name: string, content: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, content);
    return path;
  }
}

function argsOf({ isInArguments, args }: Startable, isRegistered: boolean): string[] {
  return isRegistered && isInArguments === true ? ['--import', register, ...args] : [...args];
}

function nodeOptionsOf({ isInArguments, preload }: Startable, isRegistered: boolean): string {
  const accepted = pathToFileURL(join(import.meta.dirname, 'accepted.ts')).href;
  const modules = isRegistered && isInArguments !== true ? [register] : [];
  if (preload?.side === 'before') modules.unshift(preload.module);
  if (preload?.side === 'after') modules.push(preload.module);
  return [...modules, accepted].map((module) => `--import ${module}`).join(' ');
}

/**
 * assertRefusedOnlyAtTheEnd asserts that no client was refused before the listening socket closed. When this socket
 * closes, the kernel resets connections that the program has not accepted. These connections count as refused.
 */
export function assertRefusedOnlyAtTheEnd(clients: readonly Ended[], signaledAt: number, output: string): void {
  const line = /^\{.*"name":"NotAcceptingNewRequest".*\}$/m.exec(output)?.[0];
  assert.ok(line !== undefined, output);
  const { time } = JSON.parse(line) as { time: number };
  assert.ok(time - signaledAt >= delay, 'the server must listen during the whole delay');
  for (const { account, endedAt } of clients) {
    const isAllowed = (reason: string): boolean => ['ECONNREFUSED', 'ECONNRESET', 'REFUSED_STREAM'].includes(reason);
    assert.ok(account.refused.every(isAllowed), account.refused.join(', '));
    assert.ok(endedAt >= time, `a client was refused ${String(time - endedAt)} ms before the listener closed`);
  }
}
