// Helpers for tests of images with podman or docker. They build images, run containers, and remove each container at
// the end of its test.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { root } from '../../support/markdown.ts';

const execute = promisify(execFile);
const has = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

// If buildah is installed, it builds the images and podman runs them. Otherwise, docker does both.
const isPodman = has('buildah');
const runtime = isPodman ? 'podman' : 'docker';
// podman's default runtime crun fails on machines that mount both versions of cgroups.
const always = isPodman && has('runc') ? ['--runtime', 'runc'] : [];
// podman's default ulimits may exceed the limits of the user who runs the tests, so the tests set lower ulimits.
const limits = isPodman ? ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'] : [];

// `docker rm --force` kills a container at once. `podman rm --force` first stops the container, but kills it at once
// with `--time 0`.
const atOnce = isPodman ? ['--time', '0'] : [];

/** Options of podman or docker that start a container with a read-only root file system and no writable mount. */
export const readOnly = isPodman ? ['--read-only', '--read-only-tmpfs=false'] : ['--read-only'];

/** The image that `npm run test:image` has built. */
export const image = 'localhost/lameduck-reference-service:test';

/** ImageConfig is the configuration of an image, as podman and docker print it. */
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

/**
 * `ask()` runs a command of podman or docker to its end, and resolves with its output. If the command fails, `ask()`
 * rejects.
 */
export async function ask(...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(runtime, [...always, ...args], { maxBuffer: 2 ** 26 });
  return stdout;
}

/**
 * `pipe()` pipes the output of a runtime command into a shell command, and resolves with the output of the shell
 * command.
 */
export async function pipe(args: readonly string[], reader: string): Promise<string> {
  const script = `set -o pipefail; "$@" | ${reader}`;
  const { stdout } = await execute('bash', ['-c', script, 'bash', runtime, ...always, ...args], { maxBuffer: 2 ** 26 });
  return stdout;
}

export async function inspectImage(name: string): Promise<Image> {
  const [found] = JSON.parse(await ask('image', 'inspect', name)) as [Image];
  return found;
}

/** Healthcheck is the HEALTHCHECK of an image. Its times are in nanoseconds. */
export interface Healthcheck {
  readonly Test: readonly string[];
  readonly Interval: number;
  readonly Timeout: number;
  readonly StartPeriod: number;
  readonly Retries: number;
}

/**
 * healthcheckOf returns the health check of an image. Only images in the Docker format have a health check. docker and
 * podman store it under different keys.
 */
export async function healthcheckOf(name: string): Promise<Healthcheck | undefined> {
  const [found] = JSON.parse(await ask('image', 'inspect', name)) as [
    { Healthcheck?: Healthcheck; Config: { Healthcheck?: Healthcheck } },
  ];
  return found.Healthcheck ?? found.Config.Healthcheck;
}

/** `build()` builds an image with docker/build.sh, the script that also builds the image of the reference service. */
export async function build(
  name: string,
  dockerfile: string,
  context: string,
  ...options: readonly string[]
): Promise<void> {
  await execute('bash', ['docker/build.sh', name, dockerfile, context, ...options], { cwd: root, maxBuffer: 2 ** 26 });
}

/** uniqueName returns a name for an image or a container that is used nowhere else. */
export function uniqueName(): string {
  return `lameduck-test-${randomBytes(4).toString('hex')}`;
}

/** Container is a running container that uses the host's network. */
export class Container extends CommandUnderTest {
  readonly name: string;

  constructor(options: readonly string[], of = image, args: readonly string[] = []) {
    const name = uniqueName();
    super(runtime, [...always, 'run', '--name', name, '--network', 'host', ...limits, ...options, of, ...args]);
    this.name = name;
  }

  /**
   * `stop()` sends the image's stop signal to the container, as `compose down` does. If the container still runs after
   * `seconds`, `stop()` sends SIGKILL.
   */
  async stop(seconds: number): Promise<void> {
    await ask('stop', '--time', String(seconds), this.name);
  }

  /** `node()` runs a script in the container, and resolves with what it prints. */
  node(script: string): Promise<string> {
    return ask('exec', this.name, '/nodejs/bin/node', '--eval', script);
  }

  /**
   * `becomes()` waits until the container's health check has the given state, for at most 60 seconds. This limit is
   * longer than the start period and three intervals of the health check.
   */
  async becomes(state: string): Promise<void> {
    const limit = Date.now() + 60_000;
    for (let health = ''; health !== state; health = await this.#health()) {
      assert.ok(Date.now() < limit, `the health check is ${health} and not ${state}`);
      await pause(500);
    }
  }

  // Runs the image's health check once, because some container runtimes do not run it on their own.
  async #health(): Promise<string> {
    if (isPodman) await ask('healthcheck', 'run', this.name).catch(() => undefined);
    return (await ask('inspect', '--format', '{{.State.Health.Status}}', this.name)).trim();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await ask('rm', '--force', ...atOnce, this.name).catch(() => undefined);
    await super[Symbol.asyncDispose]();
  }
}
