// Starts a program with a probe port, and probes it.
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { disposed } from './disposed.ts';
import { probe, type Probed } from './probe-client.ts';
import { reservePort } from './reserved-port.ts';
import { ProcessUnderTest } from './process-under-test.ts';

/** ProbedProcess is a fixture that is ready and serves its probe port. */
export class ProbedProcess extends ProcessUnderTest {
  readonly probePort: number;

  constructor(
    fixture: string,
    probePort: number,
    env: Readonly<Record<string, string>>,
    nodeOptions: readonly string[],
  ) {
    super(fixture, { LAMEDUCK_PROBE_PORT: String(probePort), ...env }, nodeOptions);
    this.probePort = probePort;
  }

  static async start(
    test: TestContext,
    env: Readonly<Record<string, string>> = {},
    { fixture = 'blocks-for-a-while.ts', nodeOptions = [] as readonly string[] } = {},
  ): Promise<ProbedProcess> {
    const program = disposed(test, new ProbedProcess(fixture, await reservePort(), env, nodeOptions));
    await program.signaled('HasBeenReady');
    await program.line('the probe port', ({ msg }) => msg === 'probe port listens');
    return program;
  }

  probe(path: string, options: Parameters<typeof probe>[2] = {}): Promise<Probed> {
    return probe(this.probePort, path, options);
  }

  /**
   * `probed()` sends probes until `isSo` returns true for a response, and resolves with this response. It pauses
   * between two probes, so that other processes can run.
   */
  async probed(path: string, isSo: (probed: Probed) => boolean): Promise<Probed> {
    const since = performance.now();
    for (;;) {
      const found = await this.probe(path);
      if (isSo(found)) return found;
      if (performance.now() - since > 20_000) throw new Error(`${path} is still ${JSON.stringify(found)}`);
      await setTimeout(10);
    }
  }

  /** `block()` makes the program block its event loop for `milliseconds`, and resolves just before the block begins. */
  async block(milliseconds: number): Promise<void> {
    await this.probe('/livez');
    await probe(await this.port(), `/block?ms=${String(milliseconds)}`);
    await this.probed('/livez', ({ headers }) => headers['age'] !== undefined);
  }
}
