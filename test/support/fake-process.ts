// A fake of the global object `process`. Code under test that calls `exit()` of this fake does not end the test
// process.
import { EventEmitter } from 'node:events';

export class FakeProcess extends EventEmitter {
  readonly pid = 4_242;
  readonly nextTick = process.nextTick.bind(process);
  readonly stdout = {};
  readonly stderr = {};
  exitCode: number | undefined;
  /** The exit codes of all calls of `exit()` by the code under test, in the order of the calls. */
  readonly exits: number[] = [];
  isAborted = false;

  exit(code: number): void {
    this.exitCode = code;
    if (this.exits.length === 0) this.emit('exit', code);
    this.exits.push(this.exitCode);
  }

  abort(): void {
    this.isAborted = true;
  }

  getActiveResourcesInfo(): string[] {
    return ['Timeout'];
  }
}
