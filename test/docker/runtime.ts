// Calls the container runtime, with the command line that podman and docker share. It loads images as they were built,
// and removes each container at the end of its test.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { root } from '../support/markdown.ts';

const execute = promisify(execFile);
const has = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

// buildah and podman have their images in common; docker builds its own.
const isPodman = has('buildah');
const runtime = isPodman ? 'podman' : 'docker';
// crun, which podman would take, fails where both versions of cgroups are mounted.
const always = isPodman && has('runc') ? ['--runtime', 'runc'] : [];
// podman's default limits may exceed those of the user who runs the tests.
const limits = isPodman ? ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'] : [];

// docker kills what it removes, podman stops it first.
const atOnce = isPodman ? ['--time', '0'] : [];

/** The options of a root that cannot be written, with nothing mounted that can. */
export const readOnly = isPodman ? ['--read-only', '--read-only-tmpfs=false'] : ['--read-only'];

/** The image that `npm run test:image` has built. */
export const image = 'localhost/lameduck-reference-service:test';

/** ImageConfig is what an image says about the processes that are made of it, as both runtimes print it. */
export interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[] | null;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface Image {
  readonly Id: string;
  readonly Created: string;
  readonly Config: ImageConfig;
  readonly RootFS: { readonly Layers: readonly string[] };
}

/** ask runs a command of the runtime to its end. It rejects with the command's output if the command fails. */
export async function ask(...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(runtime, [...always, ...args], { maxBuffer: 2 ** 26 });
  return stdout;
}

/** pipe has the output of a command of the runtime read by a command line of the shell, and resolves with what that prints. */
export async function pipe(args: readonly string[], reader: string): Promise<string> {
  const script = `set -o pipefail; "$@" | ${reader}`;
  const { stdout } = await execute('bash', ['-c', script, 'bash', runtime, ...always, ...args], { maxBuffer: 2 ** 26 });
  return stdout;
}

export async function inspectImage(name: string): Promise<Image> {
  const [found] = JSON.parse(await ask('image', 'inspect', name)) as [Image];
  return found;
}

/** Healthcheck is the HEALTHCHECK of an image, in nanoseconds. */
export interface Healthcheck {
  readonly Test: readonly string[];
  readonly Interval: number;
  readonly Timeout: number;
  readonly StartPeriod: number;
  readonly Retries: number;
}

/** healthcheckOf returns what only the format of Docker has, where each runtime has it. */
export async function healthcheckOf(name: string): Promise<Healthcheck | undefined> {
  const [found] = JSON.parse(await ask('image', 'inspect', name)) as [
    { Healthcheck?: Healthcheck; Config: { Healthcheck?: Healthcheck } },
  ];
  return found.Healthcheck ?? found.Config.Healthcheck;
}

/** build builds an image by the script that the project builds its own with. */
export async function build(
  name: string,
  dockerfile: string,
  context: string,
  ...options: readonly string[]
): Promise<void> {
  await execute('bash', ['docker/build.sh', name, dockerfile, context, ...options], { cwd: root, maxBuffer: 2 ** 26 });
}

/** uniqueName is for an image or a container that nobody else has. */
export function uniqueName(): string {
  return `lameduck-test-${randomBytes(4).toString('hex')}`;
}

/** Container is one on the host’s network, whose standard outputs are those of the command. */
export class Container extends CommandUnderTest {
  readonly name: string;

  constructor(options: readonly string[], of = image, args: readonly string[] = []) {
    const name = uniqueName();
    super(runtime, [...always, 'run', '--name', name, '--network', 'host', ...limits, ...options, of, ...args]);
    this.name = name;
  }

  /**
   * stop ends the container as `compose down` does: with the image’s own signal, and with SIGKILL after these seconds.
   */
  async stop(seconds: number): Promise<void> {
    await ask('stop', '--time', String(seconds), this.name);
  }

  /** node runs a script in the container, and resolves with what it prints. */
  node(script: string): Promise<string> {
    return ask('exec', this.name, '/nodejs/bin/node', '--eval', script);
  }

  /** becomes waits as long as a runtime that makes the checks by itself takes for three of them and the start period. */
  async becomes(state: string): Promise<void> {
    const limit = Date.now() + 60_000;
    for (let health = ''; health !== state; health = await this.#health()) {
      assert.ok(Date.now() < limit, `${health} and not ${state}`);
      await pause(500);
    }
  }

  // Makes one health check where nothing makes them by itself.
  async #health(): Promise<string> {
    if (isPodman) await ask('healthcheck', 'run', this.name).catch(() => undefined);
    return (await ask('inspect', '--format', '{{.State.Health.Status}}', this.name)).trim();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await ask('rm', '--force', ...atOnce, this.name).catch(() => undefined);
    await super[Symbol.asyncDispose]();
  }
}
