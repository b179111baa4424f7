// The network of a pod: one network namespace for a server, one for its clients, and the link between them. A test
// removes the link, as the kubelet removes the network interface of a pod.
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LoggingCommand } from './process-under-test.ts';

const execute = promisify(execFile);
const ip = (...args: string[]) => execute('ip', args);

// The minimum, default and maximum size of a client's receive buffer, in bytes. The buffer is small, so that most of an
// unread response stays in buffers of the server.
const receiveBuffer = '4096 65536 65536';

/**
 * PodNetwork is the network of one simulated pod. At the end of an `await using` block, its network namespaces are
 * deleted.
 */
export class PodNetwork implements AsyncDisposable {
  /** The IP address of the server in the pod network. */
  readonly host = '192.0.2.1';
  readonly #pod = `lameduck-pod-${randomBytes(8).toString('hex')}`;
  readonly #clients = this.#pod.replace('pod', 'clients');

  /** The reason why this machine cannot create network namespaces, or undefined if it can. */
  static get skip(): string | undefined {
    const name = `lameduck-${randomBytes(8).toString('hex')}`;
    try {
      execFileSync('ip', ['netns', 'add', name], { stdio: 'pipe' });
      execFileSync('ip', ['netns', 'delete', name], { stdio: 'pipe' });
      return undefined;
    } catch (error) {
      return `needs root and iproute2: ${(error as Error).message.trim()}`;
    }
  }

  /** startServer runs a fixture in the network namespace of the pod. */
  startServer(fixture: string, env: Readonly<Record<string, string>>): LoggingCommand {
    return start(this.#pod, [fixture], env);
  }

  /**
   * startClients starts a client program of test/fixtures with the arguments `args`. The program runs in the network
   * namespace of the clients.
   */
  startClients(fixture: string, args: readonly string[], env: Readonly<Record<string, string>>): LoggingCommand {
    return start(this.#clients, [fixture, ...args], env);
  }

  async create(): Promise<void> {
    await ip('netns', 'add', this.#pod);
    await ip('netns', 'add', this.#clients);
    await ip('link', 'add', 'eth0', 'netns', this.#pod, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.#clients);
    for (const [namespace, address] of [
      [this.#pod, this.host],
      [this.#clients, '192.0.2.2'],
    ] as const) {
      await ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');
      await ip('-n', namespace, 'link', 'set', 'lo', 'up');
      await ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    }
    await ip('netns', 'exec', this.#clients, 'sh', '-c', `echo ${receiveBuffer} >/proc/sys/net/ipv4/tcp_rmem`);
  }

  /** removeInterface removes the network interface of the pod. */
  async removeInterface(): Promise<void> {
    await ip('-n', this.#pod, 'link', 'delete', 'eth0');
  }

  /** muteClients drops every packet that the clients send, as if the clients' machine had lost power. */
  async muteClients(): Promise<void> {
    await ip('-n', this.#clients, 'route', 'add', 'blackhole', `${this.host}/32`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await ip('netns', 'delete', this.#pod);
    await ip('netns', 'delete', this.#clients);
  }
}

function start(namespace: string, [fixture = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
  const path = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url));
  return new LoggingCommand('ip', ['netns', 'exec', namespace, process.execPath, path, ...args], { env });
}
